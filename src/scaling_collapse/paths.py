"""The one place that knows where files lie. All paths are relative to the repository's root, given or the working folder."""

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
        return self.root / "config" / "scale" / f"{self.scale}.yaml"

    @property
    def figures_file(self) -> Path:
        return self.root / "config" / "figures.yaml"

    @property
    def catalog(self) -> Path:
        return self.root / "data" / "catalog.csv"

    @property
    def published(self) -> Path:
        return self.root / "data" / "published"

    @property
    def downloads(self) -> Path:
        return self.root / ".work" / "downloads"

    @property
    def results(self) -> Path:
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
        return self.results / "curves" / f"{group}.parquet"

    @property
    def curves(self) -> Path:
        return self.results / "curves.parquet"

    def figure(self, name: str, suffix: str = ".pdf") -> Path:
        return self.results / "figures" / f"{name}{suffix}"

    def table(self, name: str) -> Path:
        return self.results / "tables" / f"{name}.csv"

    def log(self, stage: str) -> Path:
        return self.root / "logs" / self.scale / f"{stage}.log"

    def benchmark(self, stage: str) -> Path:
        """Seconds and memory that a stage took, as Snakemake measures them."""
        return self.root / "logs" / self.scale / f"{stage}.tsv"
