"""The error of a framework that is not installed."""

from __future__ import annotations

from scaling_collapse.errors import ConfigError


def missing(framework: str, extra: str) -> ConfigError:
    """Return the error that names the extra of this package which brings a framework."""
    return ConfigError(framework, "it is not installed.", f"pip install 'scaling-collapse[{extra}]'")
