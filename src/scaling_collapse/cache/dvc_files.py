"""dvc.yaml and dvc.lock, for those who use plain `dvc status`, `push`, `pull`, `gc` and `dag` on the same store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from scaling_collapse.cache.records import Dumper, Loader, is_record
from scaling_collapse.identity.stage import Record
from scaling_collapse.whole_file import appearing

HEADER = "# Written at the end of each run of the pipeline: the stages that are here or in the cache.\n"


def write_dvc_files(root: Path, records: Mapping[str, Record], left: Callable[[str], bool]) -> None:
    """Bring both files up to date with `records`, by name of stage. Raises OSError.

    Other stages that dvc.lock knows, of other scales or from a lab mate's commit, stay, unless `left` says that they
    have left the study, or another stage makes one of their outputs now.
    """
    taken = {out["path"] for record in records.values() for out in record["outs"]}
    others = {
        name: record
        for name, record in read_lock(root).items()
        if name not in records and not left(name) and taken.isdisjoint(out["path"] for out in record["outs"])
    }
    merged = dict(sorted({**others, **records}.items()))
    stages = {
        name: {
            "cmd": record["cmd"],
            "deps": [dep["path"] for dep in record["deps"]],
            "outs": [out["path"] for out in record["outs"]],
        }
        for name, record in merged.items()
    }
    _write(root / "dvc.yaml", {"stages": stages})
    _write(root / "dvc.lock", {"schema": "2.0", "stages": merged})


def read_lock(root: Path) -> dict[str, Record]:
    """Return the records in dvc.lock, by name of stage; those that are not ours or not sound are left out."""
    try:
        stages = yaml.load((root / "dvc.lock").read_text(encoding="utf-8"), Loader)["stages"]
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
        return {}
    return {name: record for name, record in stages.items() if is_record(record)}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    text = HEADER + yaml.dump(content, Dumper=Dumper, sort_keys=False, width=1_000_000, allow_unicode=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        with appearing(path) as partial:
            partial.write_text(text, encoding="utf-8")
