"""A scale as the pipeline sees it: runs, groups and figures, the files that join them, and each stage's identity."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

from scaling_collapse.config.corpus import DebianRfc, Files, PipText
from scaling_collapse.config.family import MAIN_CORPUS
from scaling_collapse.config.figures import FigureEntry, load_figures
from scaling_collapse.config.load import load_scale
from scaling_collapse.config.scale import Scale
from scaling_collapse.corpus.catalog import find_entries
from scaling_collapse.errors import ConfigError
from scaling_collapse.paths import Paths
from scaling_collapse.plan.expand import expand
from scaling_collapse.plan.run import Run

CORPUS_FILES = ("tokenizer.json", "train.bin", "held_out.bin", "corpus.json")
RUN_FILES = ("train.parquet", "validation.parquet", "weights.safetensors", "run.json")
CURVE_FILES = ("train.parquet", "validation.parquet", "run.json")  # what curves are made from
HEADLINE = "headline"
PICTURES = (".pdf", ".png", ".parquet")  # a figure for print, for the screen, and its data


@dataclass(frozen=True)
class Study:
    """One scale, read and expanded once."""

    scale: Scale
    paths: Paths
    runs: dict[str, Run]
    figures: dict[str, FigureEntry]
    groups: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        groups: dict[str, tuple[str, ...]] = {}
        for run in self.runs.values():
            for group in run.groups:
                groups[group] = (*groups.get(group, ()), run.run_id)
        object.__setattr__(self, "groups", groups)
        for figure in self.figures.values():
            for group in figure.groups:
                if group not in groups:
                    raise ConfigError(
                        f"{self.paths.figures_file}: {figure.name}: groups",
                        f"expected run groups of the scale {self.paths.scale}, found {group}.",
                        f"add the group to {self.paths.scale_file}, or take it out of the figure.",
                    )

    @property
    def argument(self) -> str:
        """What `--scale` and `--config scale=` take to mean this scale: its name, or the file of one kept elsewhere."""
        file, kept = self.scale.file, self.paths.scale_file
        return self.paths.scale if file is None or file.resolve() == kept.resolve() else str(file)

    @property
    def trainable(self) -> list[str]:
        """Runs on the scale's own corpus; runs on other data are planned only."""
        return [run.run_id for run in self.runs.values() if run.data == MAIN_CORPUS]

    @property
    def regular(self) -> list[str]:
        """Runs whose curves are collected in one table; restarted ones are in the tables of their groups alone."""
        return [run.run_id for run in self.runs.values() if run.is_regular]

    def spec(self, run_id: str) -> str:
        """Everything that decides a run's numbers, as JSON: when it changes, the run is trained anew.

        The groups that use a run are left out: a run that joins another figure stays as it is.
        """
        return self.runs[run_id].model_dump_json(exclude={"groups"})

    def priority(self, run_id: str) -> float:
        """Rank of a training among those that wait, from 0 to about 25: the longest first."""
        return math.log10(self.runs[run_id].flops)

    def memory_mb(self, run_id: str) -> int:
        """Rough memory of a training [MB]: Python and torch; weights, gradients, two moments and a copy, in float32."""
        return round(1000 + 20 * self.runs[run_id].params / 1e6)

    def corpus_identity(self) -> str:
        """Everything that decides the tokens, as JSON: settings, and the packages' versions and hashes."""
        source = self.scale.corpus.source
        identity = self.scale.corpus.model_dump(mode="json", exclude={"max_epochs"})  # how often a run may see it
        if isinstance(source, PipText | DebianRfc):
            entries = find_entries(self.paths.catalog, source.kind, source.packages)
            identity["files"] = [[entry.filename, entry.sha256] for entry in entries]
        return json.dumps(identity)

    def corpus_inputs(self) -> list[str]:
        """The user's own text files, where the corpus is made of such."""
        source = self.scale.corpus.source
        patterns = [part.path for part in source.parts] if isinstance(source, Files) else []
        return sorted(
            {name for pattern in patterns for name in glob(pattern, root_dir=self.paths.root, recursive=True)}
        )

    def corpus_files(self) -> list[str]:
        """Files of the tokenised corpus."""
        return [str(self.paths.corpus / name) for name in CORPUS_FILES]

    def run_files(self, run_ids: Iterable[str], names: Iterable[str] = CURVE_FILES) -> list[str]:
        """Files of some runs, run by run."""
        names = tuple(names)
        return [str(self.paths.run(run_id) / name) for run_id in run_ids for name in names]

    def group_curves(self, groups: Iterable[str]) -> list[str]:
        """Tables of curves of some groups."""
        return [str(self.paths.group_curves(group)) for group in groups]

    def figure_inputs(self, name: str) -> list[str]:
        """What a figure is drawn from: curves of its groups, of all runs, published tables, tables of the scale."""
        figure = self.figures[name]
        curves = self.group_curves(figure.groups) + ([str(self.paths.curves)] if figure.all_runs else [])
        published = [str(self.paths.published / table) for table in figure.published]
        return curves + published + [str(self.paths.table(table)) for table in figure.tables]

    def figure_settings(self) -> str:
        """Settings of the scale that every figure and table depends on, as JSON."""
        settings = self.scale.model_dump(mode="json", include={"name", "claims", "analysis", "figures"})
        lengths = sorted({family.architecture.sequence_length for family in self.scale.families})
        return json.dumps({**settings, "sequence_lengths": lengths})

    def plan_digest(self) -> str:
        """Hash of every run with its groups, for what lists them all."""
        plan = "\n".join(run.model_dump_json() for run in self.runs.values())
        return hashlib.sha256(plan.encode()).hexdigest()

    def has_pictures(self) -> bool:
        """Whether any figure of the scale is drawn."""
        return any(self.paths.figure(name, ".png").exists() for name in self.figures)

    def pictures(self, name: str) -> list[str]:
        """Files of a figure."""
        return [str(self.paths.figure(name, suffix)) for suffix in PICTURES]


def read_study(scale: str, root: Path = Path()) -> Study:
    """Read a scale, by name or file, and the list of figures. Raises ConfigError when either is not sound."""
    resolved = load_scale(scale, root)
    runs = {run.run_id: run for run in expand(resolved, root)}
    figures = {figure.name: figure for figure in load_figures(root)}
    return Study(resolved, Paths(resolved.name, root), runs, figures)
