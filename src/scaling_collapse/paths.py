"""The one place that knows where files lie: below the root given, or the working folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paths:
    """Where a scale's files lie below `root`.

    `results/<scale>` holds outputs; `.work` holds what may vanish (checkpoints, downloads, unfinished logs).
    """

    scale: str
    root: Path = Path()

    @property
    def scale_file(self) -> Path:
        """YAML of this scale."""
        return self.root / "config" / "scale" / f"{self.scale}.yaml"

    @property
    def figures_file(self) -> Path:
        """YAML of all figures."""
        return self.root / "config" / "figures.yaml"

    @property
    def catalog(self) -> Path:
        """Table of pinned text sources."""
        return self.root / "data" / "catalog.csv"

    @property
    def published(self) -> Path:
        """Tables of the paper and of other models."""
        return self.root / "data" / "published"

    @property
    def downloads(self) -> Path:
        """Fetched packages, verified at each use."""
        return self.root / ".work" / "downloads"

    @property
    def results(self) -> Path:
        """All outputs of this scale."""
        return self.root / "results" / self.scale

    @property
    def corpus(self) -> Path:
        """Folder of the tokenised corpus: tokenizer.json, train.bin, held_out.bin, corpus.json."""
        return self.results / "corpus"

    def run(self, run_id: str) -> Path:
        """Folder of one run's outputs: train.parquet, validation.parquet, weights.safetensors, run.json."""
        return self.results / "runs" / run_id

    def checkpoint(self, run_id: str) -> Path:
        """Folder of one run's checkpoints and append log; outside the outputs, so Snakemake never deletes it."""
        return self.root / ".work" / "checkpoints" / self.scale / run_id

    def group_curves(self, group: str) -> Path:
        """Tidy loss curves of one run group."""
        return self.results / "curves" / f"{group}.parquet"

    @property
    def curves(self) -> Path:
        """Tidy loss curves of all runs."""
        return self.results / "curves.parquet"

    @property
    def surrogate(self) -> Path:
        """Constants of the surrogate, fitted to this scale's curves."""
        return self.results / "surrogate.json"

    def figure(self, name: str, suffix: str = ".pdf") -> Path:
        """One picture, or the data beside it."""
        return self.results / "figures" / f"{name}{suffix}"

    def table(self, name: str) -> Path:
        """One table."""
        return self.results / "tables" / f"{name}.csv"

    def log(self, stage: str) -> Path:
        """Log of one stage."""
        return self.root / "logs" / self.scale / f"{stage}.log"

    def benchmark(self, stage: str) -> Path:
        """Seconds and memory that a stage took, as Snakemake measures them."""
        return self.root / "logs" / self.scale / f"{stage}.tsv"

    @property
    def stages(self) -> StagePaths:
        """Where this clone keeps what it knows of stages, of all scales."""
        return StagePaths(self.root)


@dataclass(frozen=True)
class StagePaths:
    """What a clone knows of its stages. All of it may vanish: then everything is looked at again."""

    root: Path = Path()

    @property
    def code_folder(self) -> Path:
        """Folder with the fingerprints of the code behind each command."""
        return self.root / ".work" / "code"

    @property
    def notes(self) -> Path:
        """Folder with a note for each stage: what its files in the working tree are."""
        return self.root / ".work" / "stages"

    @property
    def pushes(self) -> Path:
        """Folder with a mark for each record that is to go to the remote."""
        return self.root / ".work" / "push"

    @property
    def forces(self) -> Path:
        """Folder with a mark for each stage that the user wants run on another machine whatever is cached."""
        return self.root / ".work" / "force"

    @property
    def lock(self) -> Path:
        """Held by the pipeline that runs in this clone."""
        return self.root / ".work" / "pipeline.lock"

    @property
    def hashes(self) -> Path:
        """MD5 of files, with what tells that they are unchanged."""
        return self.root / ".work" / "hashes.json"

    def code(self, command: str) -> Path:
        """Fingerprint of the code and packages behind a command: an input of its stages."""
        return self.code_folder / f"{command}.json"
