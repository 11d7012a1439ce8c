"""A job of Snakemake as a stage: what decides its outputs, taken from the rule as it stands."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scaling_collapse.identity.code import fingerprint
from scaling_collapse.identity.hashing import Hashes
from scaling_collapse.identity.stage import Stage
from scaling_collapse.paths import StagePaths
from scaling_collapse.whole_file import appearing

COLLAPSE = re.compile(r"^\s*collapse\s+([a-z-]+)")  # the command of a shell line
FIGURE = "figure"  # the command that imports a module by the name that it is given
REDIRECTION = re.compile(r"\s+(2>&1|>)[^'\"]*$")  # where words go is no part of a meaning
#: Outputs that are no files with a content of their own.
UNCACHED = ("directory", "pipe", "service", "touch", "update", "temp")


class Neutral:
    """Stands for threads and resources in a command: they decide no result."""

    def __getattr__(self, name: str) -> Neutral:
        return self

    def __getitem__(self, name: object) -> Neutral:
        return self

    def __str__(self) -> str:
        return "-"

    def __format__(self, how: str) -> str:
        return "-"


def is_cached(job: Any) -> bool:
    """Whether a job is kept: it has output files, inside the repository, that later jobs read."""
    from snakemake.io import is_flagged

    return bool(job.output) and all(
        not Path(path).is_absolute()
        and ".." not in Path(path).parts
        and not any(is_flagged(path, flag) for flag in UNCACHED)
        for path in job.output
    )


def stages_of(dag: Any, codes: Codes) -> tuple[dict[Any, Stage], list[Stage]]:
    """Return the stage of each job of Snakemake's graph that is kept, in an order to run them, and those asked for.

    Of a rule that only lists files, those that make them were asked for.
    """
    dag.update_jobids()  # messages and commands are formatted with the job's number among others
    stages: dict[Any, Stage] = {}
    names: set[str] = set()
    for job in (job for level in dag.toposorted() for job in level):
        if is_cached(job):
            stage = stage_of(job, codes)
            assert stage.name not in names, f"two jobs are called {stage.name}"
            names.add(stage.name)
            stages[job] = stage
    asked = [target for job in dag.targetjobs for target in ([job] if job.output else dag.dependencies[job])]
    return stages, [stages[job] for job in asked if job in stages]


def stage_of(job: Any, codes: Codes) -> Stage:
    """Return the stage of a job."""
    settings = {name or str(number): _plain(value) for number, (name, value) in enumerate(job.params._allitems())}
    outputs = tuple(str(path) for path in job.output)
    inputs = [str(path) for path in job.input]
    command = _command(job)
    if match := COLLAPSE.match(command):
        name = match[1]
        inputs.append(codes.file(name, str(settings.get("name")) if name == FIGURE else None))
    if job.rule.script:
        inputs.append(_relative(job._path_to_source_file(job.rule.script).get_path_or_uri(secret_free=True)))
    logs = [str(path) for path in job.log] + ([str(job.benchmark)] if job.benchmark else [])
    title = str(job.message) if job.message else job.rule.name
    names = [str(settings.get("scale", "")), job.rule.name, *map(str, job.wildcards)]
    name = re.sub(r"[^A-Za-z0-9_-]", "_", "-".join(filter(None, names)))
    return Stage(
        name, title, job.rule.name, command, settings, tuple(dict.fromkeys(inputs)), outputs, tuple(dict.fromkeys(logs))
    )


def _command(job: Any) -> str:
    """Return what the job runs, with neutral words for threads, resources and the place of its log."""
    if job.rule.shellcmd:
        line = job.format_wildcards(job.rule.shellcmd, threads=Neutral(), resources=Neutral(), log=Neutral())
        return REDIRECTION.sub("", " ".join(line.split()))
    if job.is_run:
        return "run " + hashlib.sha256(job.rule.run_func_src.encode()).hexdigest()
    return str(job.rule.script or job.rule.name)


def _plain(value: Any) -> Any:
    """Return a parameter as plain JSON; text that is itself JSON is taken apart, so that its leaves have names."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return json.loads(json.dumps(value, default=_as_json))


def _as_json(value: Any) -> Any:
    """A set has no order of its own, and would have another key in each process."""
    return sorted(value, key=repr) if isinstance(value, set | frozenset) else repr(value)


def _relative(path: str) -> str:
    found = Path(path)
    return str(found.relative_to(Path.cwd())) if found.is_relative_to(Path.cwd()) else path


class Codes:
    """The fingerprint of each command's code, as a file that stages have among their inputs."""

    def __init__(self, root: Path) -> None:
        self.root, self.paths = root, StagePaths(root)
        self.used: dict[str, tuple[str, str | None]] = {}  # file -> command, figure

    def file(self, command: str, drawn: str | None = None) -> str:
        """Return the file with the fingerprint of a command, written anew if the code changed."""
        path = self.paths.code(f"{command}-{drawn}" if drawn else command)
        name = path.relative_to(self.root).as_posix()
        if name not in self.used:
            self.used[name] = (command, drawn)
            self._write(path, command, drawn)
        return name

    def refresh(self, paths: Iterable[str], hashes: Hashes) -> None:
        """Bring the fingerprints among `paths` up to date: code may be edited while the pipeline runs."""
        for name in self._known(paths):
            self._write(self.root / name, *self.used[name])
            hashes.forget(name)

    def _known(self, paths: Iterable[str]) -> Iterator[str]:
        return (name for name in paths if name in self.used)

    @staticmethod
    def _write(path: Path, command: str, drawn: str | None) -> None:
        text = fingerprint(command, drawn).text()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            with appearing(path) as partial:
                partial.write_text(text, encoding="utf-8")
