"""Where Snakemake and the store of stages meet: jobs as stages, and what happens around each of them."""
