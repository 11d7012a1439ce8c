"""Train families of language models whose loss curves fall onto one; measure, predict and diagnose them."""

__version__ = "0.1.0"
