"""Which run groups the tables are computed from. Nothing heavy is imported here: the pipeline reads it to plan."""

from __future__ import annotations

#: Families of the headline and the run group of each.
HEADLINE = {
    "collapsed": "celerity_20tpp",
    "fixed_weight_decay": "fixed_weight_decay",
    "equal_tokens": "equal_tokens",
}

#: Families that collapse: each size is predicted from the smallest one.
FAMILIES = (
    "celerity_20tpp",
    "celerity_80tpp",
    "celerity_234tpp",
    "schedule_sizes_constant",
    "schedule_sizes_10x",
)

#: Sweeps of Fig 9 and 23: each run is predicted from runs of another size, and these groups give such runs besides.
SWEEPS = ("weight_decay_sweep_small", "weight_decay_sweep_large", "batch_sweep_small", "batch_sweep_large")
TEMPLATES = ("tpp_small", "tpp_large")

BACK_TEST = (*FAMILIES, *SWEEPS, *TEMPLATES)

#: Runs with a planted fault (section 7), and the ablation that finds its cause.
FAULTY = ("faulty_kernel", "faulty_kernel_ablation")
