"""The text that everything is trained on.

Inputs:  data/catalog.csv (sources with version, licence and hash)
Outputs: results/<scale>/corpus/: tokenizer.json, train.bin, held_out.bin, corpus.json
Steps:   fetch and verify the sources, remove duplicates, split by document, train the tokeniser, write token shards
"""


rule build_corpus:
    """Text of the pinned sources as token shards; downloads are kept in .work/downloads."""
    input:
        STUDY.corpus_inputs(),  # the user's own files, if the scale says so; packages are part of params
    output:
        STUDY.corpus_files(),
    log:
        STUDY.paths.log("corpus"),
    benchmark:
        STUDY.paths.benchmark("corpus")
    threads: 1
    resources:
        mem_mb=4000,
        runtime="30m",
    params:
        scale=SCALE,
        identity=STUDY.corpus_identity(),
    message:
        "Build the corpus"
    shell:
        "collapse corpus build --scale {params.scale} 2>&1 | tee -i {log}"
