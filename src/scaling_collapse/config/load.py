"""From a scale's file to a checked `Scale`."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from scaling_collapse.config.check import check_scale
from scaling_collapse.config.explain import did_you_mean, explain
from scaling_collapse.config.scale import Scale
from scaling_collapse.config.yaml_file import place, read_yaml
from scaling_collapse.errors import ConfigError
from scaling_collapse.paths import Paths


def load_scale(path_or_name: str | Path, root: Path = Path()) -> Scale:
    """Read and check a scale by name (`cpu`) or by file (`my/scale.yaml`).

    Raises ConfigError with file, line, key, what was expected and a fix.
    """
    path = find_scale(path_or_name, root)
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise ConfigError(str(path), "expected a block of settings (key: value) at the top", "start with name: ...")
    try:
        # Through JSON, because its strict mode knows lists and numbers but turns no text into numbers.
        scale = Scale.model_validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as error:
        raise explain(error, data, Scale, path) from error
    scale._file = path
    if scale.name != path.stem:
        problem = f"found {scale.name!r}, expected {path.stem!r}, the file's name, because results are kept under it"
        raise ConfigError(place(path, ["name"]), problem, f"set name: {path.stem}")
    check_scale(scale)
    return scale


def scale_names(root: Path = Path()) -> list[str]:
    """Names of the scales in config/scale."""
    return sorted(path.stem for path in Paths("", root).scale_file.parent.glob("*.yaml"))


def find_scale(path_or_name: str | Path, root: Path = Path()) -> Path:
    """File of a scale. Raises ConfigError, with the scales that exist, for an unknown name."""
    text = str(path_or_name)
    if text.endswith((".yaml", ".yml")):
        return Path(text)
    path = Paths(text, root).scale_file
    names = scale_names(root)
    if text not in names:
        fix = did_you_mean(text, names) if names else "run from the repository's root, where config/ lies"
        raise ConfigError(str(path), f"unknown scale {text!r}", fix)
    return path
