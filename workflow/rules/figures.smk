"""One rule for each entry of config/figures.yaml, under the entry's name: `snakemake fig_06_celerity_collapse`. Where a
table has the same name (headline, back_test), that belongs to the target that makes picture and numbers.

Inputs:  curves of the figure's run groups (or of all runs), published tables and tables of the scale that it names
Outputs: results/<scale>/figures/<name>.pdf, .png and .parquet (the data that it shows)
Steps:   normalise the curves, measure, draw
"""

for name, figure in STUDY.figures.items():

    rule:
        name:
            name if name not in TABLES else f"draw_{name}"
        input:
            STUDY.figure_inputs(name),
        output:
            pdf=STUDY.paths.figure(name, ".pdf"),
            png=report(
                STUDY.paths.figure(name, ".png"),
                caption=f"../report/{name}.rst",
                category=figure.category,
                labels={"paper": figure.paper, "shows": figure.title},
            ),
            data=STUDY.paths.figure(name, ".parquet"),
        log:
            STUDY.paths.log(f"figures/{name}"),
        benchmark:
            STUDY.paths.benchmark(f"figures/{name}")
        priority: SOON
        threads: 1
        resources:
            mem_mb=2000,
        params:
            scale=SCALE,
            name=name,
            entry=figure.model_dump_json(),
            settings=STUDY.figure_settings(),
        message:
            "Draw {params.name}"
        shell:
            "collapse figure {params.name} --scale {params.scale} > {log} 2>&1"
