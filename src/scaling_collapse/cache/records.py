"""Records as files of DVC's run-cache, read as what they are: text that somebody else may have written."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scaling_collapse.errors import DamagedError
from scaling_collapse.identity.stage import Record, key_of, value_of

#: More than the largest honest record, of a stage with a thousand inputs, by a factor of ten [bytes].
LARGEST_RECORD = 4_000_000
NAME = re.compile(r"[0-9a-f]{64}")

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _File(_Strict):
    """A file of a record. A directory (its MD5 ends in .dir) does not match: stages are made of files."""

    path: str
    hash: Literal["md5"]
    md5: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    size: Annotated[int, Field(ge=0)]


class _Record(_Strict):
    cmd: str
    deps: list[_File]
    outs: list[_File]


def write_record(record: Record) -> bytes:
    """Return a record as the content of its file."""
    text: str = yaml.dump(record, Dumper=Dumper, sort_keys=False, width=1_000_000, allow_unicode=True)
    return text.encode()


def read_record(data: bytes, key: str, value: str) -> Record:
    """Return the record in `data`. Raises DamagedError unless it is the one that `key` and `value` name.

    The key covers command, inputs and the paths of all outputs, so that a record under the key of a stage cannot name
    another path than the stage declares; the value covers what the outputs hold.
    """
    where = f"record {key[:12]}/{value[:12]}"
    if len(data) > LARGEST_RECORD:
        raise DamagedError(where, f"is larger than {LARGEST_RECORD} bytes.")
    try:
        text = data.decode()
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader)):
            raise DamagedError(where, "uses YAML aliases, which can grow without bound.")
        record = _Record.model_validate(yaml.load(text, Loader)).model_dump()
    except (UnicodeDecodeError, ValidationError, yaml.YAMLError, RecursionError) as error:
        raise DamagedError(where, f"is not a record ({str(error).splitlines()[0]}).") from error
    if key_of(record) != key:
        raise DamagedError(where, "belongs under another key: it names another command, input or output.")
    if value_of(record) != value:
        raise DamagedError(where, "does not hash to its name.")
    return record


def is_record(value: Any) -> bool:
    """Whether a value has the shape of a record."""
    try:
        _Record.model_validate(value)
    except ValidationError:
        return False
    return True
