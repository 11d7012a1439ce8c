"""Scaling with Collapse: training, measuring and predicting families of language models whose loss curves fall onto one."""

__version__ = "0.1.0"
