from types import SimpleNamespace

import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.config.corpus import ContextTree, Corpus

TREE = Corpus(source=ContextTree(tokens=2000, held_out_tokens=1024, successors=4, rows=64), vocabulary=32)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """An empty repository whose scale `smoke` has a small corpus."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scaling_collapse.config.load.load_scale", lambda name: SimpleNamespace(name=name, corpus=TREE))
    return tmp_path


def test_build_info_verify(repository, capsys):
    assert main(["corpus", "build", "--scale", "smoke"]) == 0
    printed = capsys.readouterr().out
    assert "tokens: 2,000 to train on, 1,024 held out" in printed
    assert "irreducible loss" in printed
    assert main(["corpus", "info", "--scale", "smoke"]) == 0
    assert "2,000" in capsys.readouterr().out
    assert main(["corpus", "verify", "--scale", "smoke"]) == 0
    assert "3 files match their sha256" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["info", "verify"])
def test_without_a_corpus(repository, capsys, command):
    assert main(["corpus", command, "--scale", "smoke"]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: results/smoke/corpus/corpus.json: there is no corpus here")
    assert printed.err.count("\n") == 1


def test_damaged_corpus(repository, capsys):
    main(["corpus", "build", "--scale", "smoke"])
    shard = repository / "results" / "smoke" / "corpus" / "train.bin"
    shard.write_bytes(bytes(shard.stat().st_size))
    capsys.readouterr()
    assert main(["corpus", "verify", "--scale", "smoke"]) == 2
    assert "train.bin: damaged" in capsys.readouterr().err
