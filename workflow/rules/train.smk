"""One training for each run of the scale.

Inputs:  results/<scale>/corpus/
Outputs: results/<scale>/runs/<run_id>/: train.parquet, validation.parquet, weights.safetensors, run.json
Steps:   train, or go on from the last checkpoint in .work/checkpoints (kept outside the outputs, so that a killed run
         loses at most some seconds); a run that diverges ends with that status, and the others go on
"""


rule train_run:
    """Train one run. The longest start first, so that all cores stay busy until the end."""
    input:
        STUDY.corpus_files(),
    output:
        STUDY.run_files(["{run_id}"], RUN_FILES),
    log:
        STUDY.paths.log("train/{run_id}"),
    benchmark:
        STUDY.paths.benchmark("train/{run_id}")
    priority: lambda wildcards: STUDY.priority(wildcards.run_id)
    retries: 1
    threads: 1  # two single-threaded trainings beat one with two threads
    resources:
        mem_mb=lambda wildcards: STUDY.memory_mb(wildcards.run_id),
    params:
        scale=SCALE,
        spec=lambda wildcards: STUDY.spec(wildcards.run_id),  # a changed spec trains the run anew
    message:
        "Train {wildcards.run_id}"
    shell:
        "collapse train {wildcards.run_id} --scale {params.scale} --threads {threads} 2>&1 | tee -i {log}"
