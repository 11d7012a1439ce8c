"""The pipeline looked at without running it: its stages, and where the outputs of each of them are."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from scaling_collapse.errors import ConfigError, ProjectError
from scaling_collapse.identity.resolve import Graph, State
from scaling_collapse.identity.stage import Stage
from scaling_collapse.pipeline.jobs import stages_of
from scaling_collapse.pipeline.session import Mode, Session
from scaling_collapse.stages.study import HEADLINE, Study

SNAKEFILE = "Snakefile"

#: Rules that can be asked for by name, beside figures.
RULES = (HEADLINE, "all", "back_test", "build_corpus", "fit_surrogate")


@dataclass(frozen=True)
class Plan:
    """Stages of a study with their states, and those that were asked for."""

    session: Session
    graph: Graph
    targets: list[Stage]
    states: dict[str, State]

    def needed(self, targets: list[Stage] | None = None) -> list[State]:
        """Return the states that matter for `targets` (default: for what was asked for)."""
        return self.graph.needed(self.states, self.targets if targets is None else targets)

    def maker(self, path: str) -> State | None:
        """Return the state of the stage that makes a file."""
        stage = self.graph.makers.get(path)
        return self.states[stage.name] if stage else None


def target_files(study: Study, target: str | None) -> list[str]:
    """Return what to ask Snakemake for: `target` is a run, a group, a figure, a rule or a file; None means everything.

    Raises ConfigError for a name that is none of these.
    """
    if target is None or target in RULES or "/" in target:
        return [target] if target else []
    if target in study.runs:
        return study.run_files([target], ["run.json"])
    if target in study.groups:
        return study.group_curves([target])
    if target in study.figures:
        return study.pictures(target)
    names = [*RULES, *study.figures, *study.groups, *study.runs]
    near = get_close_matches(target, names, n=1)  # all of them would fill the screen
    fix = (
        f"did you mean {near[0]}?"
        if near
        else f"see `collapse plan --scale {study.argument}` and `collapse figure --list`"
    )
    raise ConfigError(target, f"is no run, group, figure, rule or file of the scale {study.paths.scale}.", fix)


@contextmanager
def planned(study: Study, targets: list[str], mode: Mode, warn: Callable[[str], None]) -> Iterator[Plan]:
    """Let Snakemake work out all jobs of a study, as stages with their states. Nothing runs, nothing is restored.

    Raises ConfigError where there is no Snakefile, or where Snakemake knows no way to make `targets`.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.settings.enums import Quietness
    from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings

    if not Path(SNAKEFILE).exists():
        raise ConfigError(SNAKEFILE, "is not here.", "run this command in the root of the repository")
    output = OutputSettings(quiet={Quietness.ALL}, enable_file_logging=False, log_level_override=logging.CRITICAL)
    with SnakemakeApi(output) as api:
        settings = ConfigSettings(config={"scale": study.argument})
        workflow = api.workflow(ResourceSettings(cores=1), config_settings=settings, snakefile=Path(SNAKEFILE))
        try:
            dag = _build(workflow.dag(DAGSettings(targets=frozenset(targets))))
        except Exception as error:
            if isinstance(error, ProjectError):
                raise
            raise ConfigError(" ".join(targets) or SNAKEFILE, f"cannot be planned ({error}).") from error
        session = Session(Path(), mode, warn, tell=lambda _: None)
        jobs, asked = stages_of(dag, session.codes)
        graph = Graph(list(jobs.values()))
        yield Plan(session, graph, asked, session.resolve(graph))


def _build(api: Any) -> Any:
    """Return Snakemake's graph of jobs."""
    workflow = api.workflow_api._workflow
    workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True)
    workflow._build_dag()
    return workflow.dag
