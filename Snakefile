# Scaling with Collapse, from text to figures. Each stage calls one `collapse` command, which can be pasted as it is printed.
#
#   snakemake headline                      one family on one curve, beside the same sizes mis-scaled, and the numbers
#   snakemake                               every figure and table of the scale
#   snakemake fig_06_celerity_collapse      one figure (names: config/figures.yaml)
#   snakemake --config scale=smoke          another scale: config/scale/<scale>.yaml; the default is cpu
#   snakemake -n                            what would be done, and why
#   snakemake --config cache=local          no remote; also: read (push nothing), off. See docs/cache.md
#
# How and where to run (cores, retries, what is printed) is in profiles/default/config.yaml.
from snakemake.utils import min_version

min_version("9.17")


# In the order in which they run.
include: "workflow/rules/common.smk"
include: "workflow/rules/corpus.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/curves.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/predict.smk"
include: "workflow/rules/figures.smk"


rule all:
    """Every figure, table and run of the scale."""
    default_target: True
    input:
        STUDY.run_files(STUDY.runs, ["run.json"]),
        [picture for name in STUDY.figures for picture in STUDY.pictures(name)],
        [str(STUDY.paths.table(name)) for name in TABLES],
        STUDY.paths.surrogate,


rule headline:
    """One family on one curve, beside the same sizes mis-scaled, and the numbers."""
    input:
        STUDY.pictures(HEADLINE),
        str(STUDY.paths.table(HEADLINE)),


onsuccess:
    if STUDY.has_pictures():
        shell("collapse results --scale {SCALE}")


install(workflow, config)  # behind every rule above: what is cached here or at the lab's remote is restored
