"""Turns what pydantic found into one line: the key, what was expected, what was found, and how to mend it."""

from __future__ import annotations

import difflib
import json
import typing
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from scaling_collapse.config.yaml_file import place
from scaling_collapse.errors import ConfigError

_LIMITS = {
    "greater_than": ("gt", ">"),
    "greater_than_equal": ("ge", ">="),
    "less_than": ("lt", "<"),
    "less_than_equal": ("le", "<="),
}
_KINDS = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "model_type": "a block of settings (key: value)",
    "model_attributes_type": "a block of settings (key: value)",
    "dict_type": "a block of settings (key: value)",
}


def explain(error: ValidationError, data: Any, schema: type[BaseModel], file: Path | None) -> ConfigError:
    """The first fault as a ConfigError; unknown keys come before missing ones, because they often cause them."""
    faults = [fault for fault in error.errors(include_url=False) if not _is_echo(fault)]
    fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    keys = _real_path(fault["loc"], data)
    others = len({tuple(_real_path(f["loc"], data)) for f in faults} - {tuple(keys)})
    problem, fix = _describe(fault, keys, [f for f in faults if _real_path(f["loc"], data) == keys], schema)
    more = f" ({others} more faults)" if others > 1 else " (1 more fault)" if others else ""
    return ConfigError(place(file, keys), problem + more, fix)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A fix for an unknown name: the nearest known one, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(names)}"


def _is_echo(fault: Any) -> bool:
    """A list that only counts as too short because pydantic left out its faulty entries."""
    return fault["type"] == "too_short" and bool(len(fault["input"]) >= fault["ctx"]["min_length"])


def _describe(
    fault: Any, keys: Sequence[str | int], same_key: Sequence[Any], schema: type[BaseModel]
) -> tuple[str, str]:
    """Problem and fix of one fault; `same_key` are the faults of all kinds of value that the key may have."""
    found = _shorten(fault["input"])
    match fault["type"]:
        case "extra_forbidden":
            return f"unknown key {keys[-1]!r}", did_you_mean(str(keys[-1]), _known_keys(schema, keys[:-1]))
        case "missing":
            return "missing", _description(schema, keys)
        case "value_error":
            problem, _, fix = str(fault["ctx"]["error"]).partition("; ")
            return problem, fix or _description(schema, keys)
        case "too_short":
            return f"expected at least {fault['ctx']['min_length']} entry, found {found}", _description(schema, keys)
        case "string_pattern_mismatch":
            return f"expected text of the form {fault['ctx']['pattern']}, found {found}", _description(schema, keys)
        case "literal_error" if len(same_key) == 1 and isinstance(fault["input"], str):
            names = [name.strip("' ") for name in fault["ctx"]["expected"].replace(" or ", ", ").split(",")]
            return f"expected {fault['ctx']['expected']}, found {found}", did_you_mean(fault["input"], names)
        case "union_tag_invalid" | "union_tag_not_found":
            return f"expected a block with kind {fault['ctx'].get('expected_tags', '...')}, found {found}", "set kind"
    expected = " or ".join(dict.fromkeys(_expected(f) for f in same_key))
    return f"expected {expected}, found {found}", _description(schema, keys)


def _expected(fault: Any) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _LIMITS:
        key, sign = _LIMITS[kind]
        return f"a number {sign} {context[key]:g}"
    if kind == "literal_error":
        return str(context["expected"])
    return _KINDS.get(kind, str(fault["msg"]))


def _shorten(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _real_path(loc: Sequence[str | int], data: Any) -> list[str | int]:
    """The keys of `loc` that the file has, and a last one that it lacks; without pydantic's names of alternatives."""
    keys: list[str | int] = []
    for position, key in enumerate(loc):
        is_entry = isinstance(data, list) and isinstance(key, int) and key < len(data)
        if is_entry or (isinstance(data, dict) and key in data):
            data = data[key]
            keys.append(key)
        elif isinstance(data, dict) and position == len(loc) - 1 and str(key).isidentifier():
            keys.append(key)
    return keys


def _blocks(annotation: Any) -> list[type[BaseModel]]:
    """All blocks inside an annotation such as `tuple[Size, ...]` or `int | Of | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [block for part in typing.get_args(annotation) for block in _blocks(part)]


def _fields(schema: type[BaseModel], keys: Sequence[str | int]) -> list[Any]:
    """The fields that a key path may mean (several where alternatives exist)."""
    blocks, fields = [schema], []
    for key in keys:
        if isinstance(key, int):
            continue
        fields = [block.model_fields[key] for block in blocks if key in block.model_fields]
        blocks = [inner for field in fields for inner in _blocks(field.annotation)]
    return fields


def _known_keys(schema: type[BaseModel], keys: Sequence[str | int]) -> list[str]:
    blocks = [b for f in _fields(schema, keys) for b in _blocks(f.annotation)] if keys else [schema]
    return list(dict.fromkeys(name for block in blocks for name in block.model_fields))


def _description(schema: type[BaseModel], keys: Sequence[str | int]) -> str:
    fields = _fields(schema, keys)
    name = next((key for key in reversed(keys) if isinstance(key, str)), "")
    return f"set {name} ({fields[0].description})" if fields else ""
