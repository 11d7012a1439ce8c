"""The commands of `collapse`: where each lives, and its line of help. A module is imported only when it is called."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A command: `target` is "module:name" of a function or of a `typer.Typer` with sub-commands."""

    target: str
    help: str

    def load(self) -> Any:
        """Import the function or Typer."""
        module, name = self.target.split(":")
        return getattr(import_module(f"scaling_collapse.cli.{module}"), name)


# In the order in which a study uses them; `collapse --help` lists them so.
COMMANDS: dict[str, Entry] = {
    "config": Entry("config:app", "Check the configuration, or write its generated reference files."),
    "plan": Entry(
        "plan:plan", "List all training runs with their cost and where each is cached, before anything runs."
    ),
    "why": Entry("why:why", "Say what makes a stage run again: old -> new."),
    "cache": Entry("cache:app", "Set up, inspect and look after the cache of stages that a lab shares."),
    "corpus": Entry("corpus:app", "Build, describe or verify the corpus of a scale."),
    "train": Entry("train:train", "Train one run of the plan, or resume it."),
    "curves": Entry("curves:curves", "Collect loss curves of finished runs into one table."),
    "check": Entry("check:check", "Say whether runs collapse, and which run or setting does not fit."),
    "fit": Entry("fit:fit", "Fit the surrogate of the universal curve to finished runs."),
    "predict": Entry("predict:predict", "Predict final losses from parts of curves."),
    "advise": Entry("advise:advise", "Say which runs of a sweep can stop now."),
    "watch": Entry("watch:watch", "Follow a training log, and tell spikes, drift and divergence."),
    "report": Entry("report:report", "Write one HTML file on a family of runs, or on a single one."),
    "import": Entry("import_logs:import_logs", "Read training logs of other tools into a table of curves."),
    "figure": Entry("figure:figure", "Draw one figure from the curves."),
    "table": Entry("table:table", "Compute one table from the curves."),
    "results": Entry("results:results", "Show the headline numbers and where the pictures are."),
}
