"""Every kind of wrong configuration: one line that names file, line, key and fix; exit code 2; nothing written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scaling_collapse.cli.app import main
from scaling_collapse.config.load import load_scale
from scaling_collapse.errors import ConfigError
from scaling_collapse.plan.expand import expand
from tests.unit.config.support import small, write

Change = Callable[[dict[str, Any]], None]


def at(*keys: str | int, value: Any) -> Change:
    """A change that sets the value at a key path."""

    def change(scale: dict[str, Any]) -> None:
        node: Any = scale
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = value

    return change


def without(*keys: str | int) -> Change:
    def change(scale: dict[str, Any]) -> None:
        node: Any = scale
        for key in keys[:-1]:
            node = node[key]
        del node[keys[-1]]

    return change


def group(**settings: Any) -> Change:
    """A change that appends a group."""
    return lambda scale: scale["groups"].append({"name": "extra", "sizes": ["4k"], "tpp": 20} | settings)


def second_size(**settings: Any) -> Change:
    return lambda scale: scale["families"][0]["sizes"][1].update(settings)


def law_of_exponent_999(scale: dict[str, Any]) -> None:
    scale["families"][0]["batch_law"] = {"exponent": 999}
    del scale["families"][0]["sizes"][0]["batch"]


# name: (change, what the line must say: the key and what was expected or the fix)
CASES: dict[str, tuple[Change, list[str]]] = {
    "unknown key at the top": (at("gruops", value=[]), ["gruops", "unknown key", "did you mean 'groups'?"]),
    "unknown key in a size": (second_size(widht=3), ["families[0].sizes[1].widht", "did you mean 'width'?"]),
    "unknown key in a group": (group(batchsize=3), ["groups[3].batchsize", "did you mean 'batch'?"]),
    "unknown grid axis": (group(grid={"tua": [1]}), ["groups[3].grid.tua", "did you mean 'tau'?"]),
    "unknown key far from any": (at("zzz", value=1), ["zzz", "use one of name, description"]),
    "missing key": (without("families", 0, "optimizer", "peak_lr"), ["families[0].optimizer.peak_lr", "missing"]),
    "no families": (at("families", value=[]), ["families", "at least 1"]),
    "no groups": (at("groups", value=[]), ["groups", "at least 1"]),
    "heads do not divide width": (second_size(head_size=9), ["families[0].sizes[1]", "9 does not divide width 32"]),
    "zero TPP": (group(tpp=0), ["groups[3].tpp: ", "a number > 0, found 0"]),
    "negative TPP": (group(tpp=[20, -80]), ["groups[3].tpp[1]", "a number > 0, found -80"]),
    "TPP is text": (group(tpp="20"), ["groups[3].tpp: ", 'a number, found "20"']),
    "not a number": (group(tau=float("nan")), ["groups[3].tau", "a finite number or 'law', found NaN"]),
    "infinite": (at("families", 0, "optimizer", "peak_lr", value=float("inf")), ["peak_lr", "finite number"]),
    "negative learning rate": (group(peak_lr=-0.1), ["groups[3].peak_lr", "a number > 0"]),
    "zero tau": (group(tau=0), ["groups[3].tau", "a number > 0 or 'law', found 0"]),
    "negative weight decay": (group(weight_decay=-1), ["groups[3].weight_decay", "a number >= 0"]),
    "zero batch": (group(batch=0), ["groups[3].batch", "a number > 0"]),
    "fractional batch": (group(batch=1.5), ["groups[3].batch", "an integer", "found 1.5"]),
    "fractional layers": (second_size(layers=1.5), ["families[0].sizes[1].layers", "an integer, found 1.5"]),
    "true as a number": (second_size(width=True), ["families[0].sizes[1].width", "an integer, found true"]),
    "text where a list belongs": (group(sizes="4k"), ["groups[3].sizes", "a list"]),
    "list where a block belongs": (at("corpus", value=[1]), ["corpus", "a block of settings"]),
    "unknown schedule": (group(schedule="constnat"), ["groups[3].schedule", "did you mean 'constant'?"]),
    "unknown parameterisation": (group(parameterisation="mutransfer"), ["groups[3].parameterisation", "completep"]),
    "unknown corpus": (at("corpus", "source", "kind", value="wikipedia"), ["corpus.source", "pip_text"]),
    "unknown size": (group(sizes=["4k", "61k"]), ["groups[3].sizes[1]", "unknown size '61k'", "did you mean '16k'?"]),
    "unknown size in a case": (group(cases=[{}, {"size": "5k"}]), ["groups[3].cases[1].size", "unknown size '5k'"]),
    "unknown size in of": (group(weight_decay={"of": "3k"}), ["groups[3].weight_decay.of", "unknown size '3k'"]),
    "misspelt of": (group(batch={"off": "4k"}), ["groups[3].batch.off", "did you mean 'of'?"]),
    "unknown data": (group(data="pile"), ["groups[3].data", "unknown data 'pile'"]),
    "no size": (group(sizes=[]), ["groups[3]", "no size"]),
    "neither TPP nor tokens": (group(tpp=[]), ["groups[3]", "neither tpp nor tokens"]),
    "TPP and tokens": (group(tokens=1e5), ["groups[3]", "tpp and tokens are both set"]),
    "tau and weight decay": (group(tau=0.1, weight_decay=0.1), ["groups[3]", "tau and weight_decay are both set"]),
    "tau and weight decay in a case": (
        group(cases=[{"tau": 0.1, "weight_decay": 0}]),
        ["groups[3].cases[0]", "both set"],
    ),
    "tau and weight decay in a grid": (group(grid={"tau": [0.1], "weight_decay": [1]}), ["groups[3]", "both set"]),
    "two groups of one name": (group(name="sweep"), ["groups[3].name", "'sweep' is used twice"]),
    "two sizes of one name": (second_size(name="4K"), ["families[0].sizes[1].name", "'4K' is used twice"]),
    "bad group name": (group(name="Fig 3"), ["groups[3].name", "of the form"]),
    "two runs with one id": (group(tau=0.20001), ["groups[3]", "two runs with one id, 4k-tpp20-base-s0", "family"]),
    "tokens beyond the corpus": (group(tpp=600), ["groups[3]", "4k-tpp600", "3,100,672 tokens", "hold 1,999,968"]),
    "too many epochs": (at("corpus", "max_epochs", value=5), ["corpus.max_epochs", "<= 4"]),
    "batch larger than the run": (group(batch=9000), ["groups[3]", "288,000 tokens is larger than the run's"]),
    "astronomic TPP": (group(tpp=1e308, batch=10**9), ["groups[3]", "beyond what a computer holds"]),
    "astronomic batch law": (law_of_exponent_999, ["groups[0]", "beyond"]),
    "no seeds": (group(seeds=[]), ["groups[3].seeds", "at least 1"]),
    "fill of two sizes": (group(sizes=["4k", "16k"], fill_to=3), ["groups[3]", "one size and one TPP"]),
    "fill beyond the grid": (group(fill_to=9), ["groups[3].fill_to", "5 more runs wanted, but the grid has 0"]),
    "fill below what is there": (group(fill_to=2), ["groups[3].fill_to", "2 runs wanted, but other groups have 4"]),
    "search without bounds": (group(search={"count": 3}), ["groups[3].search", "nothing to search"]),
    "bounds the wrong way": (
        group(search={"count": 3, "peak_lr": {"low": 2, "high": 1}}),
        ["groups[3].search.peak_lr", "low 2.0 must be below high 1.0"],
    ),
    "vocabulary unlike the corpus": (at("families", 0, "architecture", "vocabulary", value=65), ["65", "has 64"]),
    "no FFN size": (without("families", 0, "architecture", "ffn_multiplier"), ["families[0].sizes[0]", "ffn_hidden"]),
    "empty comparison range": (at("analysis", value={"t_hat_min": 0.9, "t_hat_max": 0.5}), ["analysis", "0.9 must be"]),
    "name unlike the file": (at("name", value="big"), ["name", "expected 'small', the file's name"]),
}


@pytest.mark.parametrize("name", CASES)
def test_one_line_names_file_line_key_and_fix(name: str, tmp_path: Path) -> None:
    change, fragments = CASES[name]
    scale = small()
    change(scale)
    path = write(tmp_path, scale)
    with pytest.raises(ConfigError) as caught:
        expand(load_scale(path))
    line = str(caught.value)
    assert re.match(rf"{re.escape(str(path))}(:\d+)?: ", line), line
    assert "\n" not in line
    for fragment in fragments:
        assert fragment in line
    assert caught.value.fix


@pytest.mark.parametrize("name", CASES)
def test_command_exits_2_and_writes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scale = small()
    CASES[name][0](scale)
    path = write(tmp_path, scale)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "--scale", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {path}")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


TEXTS: dict[str, tuple[str | bytes, list[str]]] = {
    "empty file": ("", ["the file is empty"]),
    "only a comment": ("# nothing\n", ["the file is empty"]),
    "a list at the top": ("- 1\n", ["a block of settings"]),
    "broken syntax": ("name: small\ngroups: [1, 2\nfamilies: 3\n", ["small.yaml:3", "not valid YAML"]),
    "a tab": ("name: small\ncorpus:\n\tvocabulary: 3\n", ["small.yaml:3", "not valid YAML"]),
    "repeated key": ("name: small\ncorpus:\n  vocabulary: 64\n  vocabulary: 65\n", [":4", "'vocabulary' repeats"]),
    "not text": (b"name: \xff\xfe\n", ["not UTF-8"]),
    "a tag that would run code": ("name: !!python/object/apply:os.getcwd []\n", [":1", "not valid YAML"]),
    "two documents": ("name: small\n---\nname: small\n", ["not valid YAML"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_no_scale(name: str, tmp_path: Path) -> None:
    text, fragments = TEXTS[name]
    path = tmp_path / "small.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        load_scale(path)
    assert str(caught.value).startswith(str(path))
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_unknown_scale_lists_the_known_ones(tmp_path: Path) -> None:
    write(tmp_path, small())
    with pytest.raises(ConfigError, match=r"unknown scale 'smal'.*did you mean 'small'"):
        load_scale("smal", tmp_path)
    with pytest.raises(ConfigError, match="use one of small"):
        load_scale("xyz", tmp_path)
    with pytest.raises(ConfigError, match="repository's root"):
        load_scale("small", tmp_path / "elsewhere")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_scale(tmp_path / "none.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_scale(tmp_path / "folder.yaml")


def test_line_number_is_that_of_the_key(tmp_path: Path) -> None:
    scale = small()
    group(taau=3)(scale)
    path = write(tmp_path, scale)
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "taau" in text)
    with pytest.raises(ConfigError) as caught:
        load_scale(path)
    assert caught.value.where == f"{path}:{line}: groups[3].taau"
