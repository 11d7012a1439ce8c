"""The store of stages: DVC's objects and run-cache, on this machine and at the lab's remote. Knows no Snakemake."""
