"""Every error that a user can cause or meet, as one line: where, what was expected, how to mend it."""

from __future__ import annotations


class ProjectError(Exception):
    """A fault that the user can mend. Shown as one line; the command exits with `exit_code`.

    `where` names the file, key or run; `problem` says what was found and what was expected; `fix` says what to do.
    """

    exit_code = 2

    def __init__(self, where: str, problem: str, fix: str = "") -> None:
        self.where, self.problem, self.fix = where, problem, fix
        super().__init__(where, problem, fix)

    def __str__(self) -> str:
        line = f"{self.where}: {self.problem.rstrip('.')}."
        return " ".join((f"{line.rstrip('.')}. Fix: {self.fix}" if self.fix else line).split())


class ConfigError(ProjectError):
    """A configuration file or key is unknown, missing or impossible."""


class CorpusError(ProjectError):
    """A text source, its hash, the tokeniser or the token shards are not what they should be."""


class RunError(ProjectError):
    """A training run cannot start, resume or be read."""


class CurveError(ProjectError):
    """A loss curve cannot be used for what was asked of it."""


class LogError(ProjectError):
    """A training log of another tool cannot be read, or holds no losses that could be recognised."""


class FigureError(ProjectError):
    """A figure or table lacks the data that it shows."""


class CacheError(ProjectError):
    """The cache of stages, or the remote behind it, cannot be used or does not hold what it should."""


class DamagedError(CacheError):
    """An object or record does not hold what its name says."""
