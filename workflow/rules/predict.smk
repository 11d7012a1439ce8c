"""The surrogate of the universal curve, fitted to the scale's own runs; and the back-test of predictions.

Inputs:  results/<scale>/curves.parquet; the picture and the numbers of the back-test
Outputs: results/<scale>/surrogate.json: constants with intervals, verdicts and warnings, errors on the sizes not fitted
Steps:   choose the smallest size with enough runs, fit, resample its runs, test on all others
"""


rule fit_surrogate:
    """Constants of the surrogate, for predictions without a finished sibling."""
    input:
        STUDY.paths.curves,
    output:
        STUDY.paths.surrogate,
    log:
        STUDY.paths.log("surrogate"),
    benchmark:
        STUDY.paths.benchmark("surrogate")
    priority: SOON
    threads: 1
    resources:
        mem_mb=2000,
    params:
        scale=SCALE,
        settings=STUDY.figure_settings(),
    message:
        "Fit the surrogate"
    shell:
        "collapse fit --scale {params.scale} > {log} 2>&1"


rule back_test:
    """Finished runs predicted from their parts, by every method: picture and numbers."""
    input:
        STUDY.pictures("back_test"),
        str(STUDY.paths.table("back_test")),
