"""Numbers.

Inputs:  results/<scale>/curves/<group>.parquet of families and sweeps, results/<scale>/curves.parquet;
         results/<scale>/runs/<run_id>/run.json
Outputs: results/<scale>/tables/<name>.csv
Steps:   measure how far the curves of each family lie apart; list every run with its settings and final losses; fit the
         surrogate to one size and test it on the others, whole and without its parts; predict finished runs from parts; put every run through the alarm
"""

from scaling_collapse.tables.groups import BACK_TEST, FAULTY

# Each table with the files that it is computed from.
TABLES = {
    "headline": STUDY.group_curves(STUDY.figures[HEADLINE].groups),
    "runs": STUDY.run_files(STUDY.trainable, ["run.json"]),
    "table_11": [str(STUDY.paths.curves)],
    "table_12": [str(STUDY.paths.curves)],
    "back_test": STUDY.group_curves(BACK_TEST),
    "alarms": [str(STUDY.paths.curves), *STUDY.group_curves(FAULTY)],
}

for table, files in TABLES.items():

    rule:
        name:
            f"tabulate_{table}"
        input:
            files,
        output:
            STUDY.paths.table(table),
        log:
            STUDY.paths.log(f"tables/{table}"),
        benchmark:
            STUDY.paths.benchmark(f"tables/{table}")
        priority: SOON
        threads: 1
        resources:
            mem_mb=2000,
        params:
            scale=SCALE,
            name=table,
            settings=STUDY.figure_settings(),
            runs=STUDY.plan_digest() if table == "runs" else None,
        message:
            "Compute the table {params.name}"
        shell:
            "collapse table {params.name} --scale {params.scale} > {log} 2>&1"
