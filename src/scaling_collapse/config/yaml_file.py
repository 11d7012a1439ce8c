"""Reading YAML strictly: repeated keys and broken syntax are errors that name the line."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import yaml

from scaling_collapse.errors import ConfigError

# YAML 1.1 reads 1e-3 as text; everybody who writes it means a number.
_FLOAT = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)$")


class _Loader(yaml.CSafeLoader):
    """A safe loader that refuses repeated keys and knows exponents without a point."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key_node.value!r} repeats", problem_mark=key_node.start_mark)
            if isinstance(key_node, yaml.ScalarNode):
                seen.add(key_node.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))


def read_yaml(path: Path) -> Any:
    """Contents of a YAML file. Raises ConfigError where it is missing, unreadable, empty or not YAML."""
    text = _read_text(path)
    try:
        data = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ConfigError(
            f"{path}:{mark.line + 1 if mark else 1}",
            f"not valid YAML: {error.problem}",
            "mend the line, or one above it",
        ) from error
    except yaml.YAMLError as error:
        raise ConfigError(str(path), f"not valid YAML: {error}", "save it as plain UTF-8 text") from error
    if data is None:
        raise ConfigError(str(path), "the file is empty", "start from config/scale/smoke.yaml")
    return data


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(str(path), "no such file", "check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), "not UTF-8 text", "save it as plain UTF-8 text") from error
    except OSError as error:
        raise ConfigError(
            str(path), f"cannot be read: {error.strerror}", "check the path and its permissions"
        ) from error


def place(path: Path | None, keys: Sequence[str | int] = ()) -> str:
    """Where a key stands, for an error: `config/scale/cpu.yaml:57: groups[3].tau`."""
    key_path = spell(keys)
    if path is None:
        return key_path or "scale"
    line = _line_of(path, keys)
    where = f"{path}:{line}" if line else str(path)
    return f"{where}: {key_path}" if key_path else where


def spell(keys: Sequence[str | int]) -> str:
    """`("groups", 3, "tau")` as `groups[3].tau`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _line_of(path: Path, keys: Sequence[str | int]) -> int | None:
    """Line of the deepest key that the file has; only called once something is wrong, so it may parse again."""
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, ValueError, yaml.YAMLError):
        return None
    line = None
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(key)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line
        else:
            break
    return None if line is None else line + 1
