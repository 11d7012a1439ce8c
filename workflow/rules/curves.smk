"""Loss curves of finished runs as tidy tables.

Inputs:  results/<scale>/runs/<run_id>/: train.parquet, validation.parquet, run.json; results/<scale>/corpus/, which says
         how hard each batch was
Outputs: results/<scale>/curves/<group>.parquet, results/<scale>/curves.parquet
Steps:   one row per run, split and step, with the run's settings beside the loss
"""


rule collect_group:
    """Curves of one run group."""
    input:
        lambda wildcards: STUDY.run_files(STUDY.groups[wildcards.group]),
        STUDY.corpus_files(),
    output:
        STUDY.paths.group_curves("{group}"),
    log:
        STUDY.paths.log("curves/{group}"),
    benchmark:
        STUDY.paths.benchmark("curves/{group}")
    priority: SOON
    threads: 1
    resources:
        mem_mb=1000,
    params:
        scale=SCALE,
        runs=lambda wildcards: STUDY.groups[wildcards.group],
    message:
        "Collect the curves of {wildcards.group}"
    shell:
        "collapse curves --scale {params.scale} --group {wildcards.group} > {log} 2>&1"


rule collect_all:
    """Curves of all runs of the scale but those that were restarted with a fault."""
    input:
        STUDY.run_files(STUDY.regular),
        STUDY.corpus_files(),
    output:
        STUDY.paths.curves,
    log:
        STUDY.paths.log("curves"),
    benchmark:
        STUDY.paths.benchmark("curves")
    priority: SOON
    threads: 1
    resources:
        mem_mb=4000,
    params:
        scale=SCALE,
    message:
        "Collect the curves of all runs"
    shell:
        "collapse curves --scale {params.scale} --all > {log} 2>&1"
