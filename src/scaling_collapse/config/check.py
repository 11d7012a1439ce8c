"""What types cannot say: names that must exist or be unique, shapes that must be possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from scaling_collapse.config.explain import did_you_mean
from scaling_collapse.config.family import MAIN_CORPUS
from scaling_collapse.config.group import Of
from scaling_collapse.config.points import Point, points
from scaling_collapse.config.scale import Scale
from scaling_collapse.config.yaml_file import place
from scaling_collapse.errors import ConfigError

Keys = tuple[str | int, ...]


def check_scale(scale: Scale) -> None:
    """Raise ConfigError for the first name or shape that cannot be."""
    _check_unique(scale)
    _check_models(scale)
    for index, group in enumerate(scale.groups):
        keys: Keys = ("groups", index)
        for position, name in enumerate(group.sizes):
            _check_known(scale, (*keys, "sizes", position), "size", name, scale.size_names())
        if group.search and not (group.search.model_fields_set - {"count", "seed"}):
            raise _error(scale, (*keys, "search"), "nothing to search", "give low and high of at least one setting")
        for point in points(group):
            _check_point(scale, keys, point)


def _error(scale: Scale, keys: Sequence[str | int], problem: str, fix: str) -> ConfigError:
    return ConfigError(place(scale.file, keys), problem, fix)


def _check_unique(scale: Scale) -> None:
    names: dict[str, list[tuple[Keys, str]]] = {
        "size": [
            (("families", f, "sizes", s, "name"), size.name)
            for f, family in enumerate(scale.families)
            for s, size in enumerate(family.sizes)
        ],
        "family": [(("families", f, "name"), family.name) for f, family in enumerate(scale.families)],
        "group": [(("groups", g, "name"), group.name) for g, group in enumerate(scale.groups)],
        "data": [(("external_data", d, "name"), data.name) for d, data in enumerate(scale.external_data)],
    }
    for what, entries in names.items():
        seen: dict[str, Keys] = {"corpus": ()} if what == "data" else {}
        for keys, name in entries:
            if name.lower() in seen:  # run ids are lower case
                raise _error(scale, keys, f"{what} name {name!r} is used twice", "give each its own name")
            seen[name.lower()] = keys


def _check_models(scale: Scale) -> None:
    vocabularies = {MAIN_CORPUS: scale.corpus.vocabulary} | {d.name: d.vocabulary for d in scale.external_data}
    for f, family in enumerate(scale.families):
        _check_known(scale, ("families", f, "data"), "data", family.data, vocabularies)
        found, expected = family.architecture.vocabulary, vocabularies[family.data]
        if found != expected:
            keys: Keys = ("families", f, "architecture", "vocabulary")
            raise _error(scale, keys, f"found {found}, but the data {family.data!r} has {expected}", f"set {expected}")
        for s, size in enumerate(family.sizes):
            keys = ("families", f, "sizes", s)
            if size.ffn_hidden is None and family.architecture.ffn_multiplier is None:
                raise _error(scale, keys, "ffn_hidden is missing", "set it, or ffn_multiplier of the architecture")
            try:
                family.model(size)
            except ValidationError as error:
                problem, _, fix = error.errors()[0]["msg"].removeprefix("Value error, ").partition("; ")
                raise _error(scale, keys, problem, fix) from error


def _check_point(scale: Scale, group_keys: Keys, point: Point) -> None:
    case, keys = point.case, (*group_keys, *point.keys)
    if case.size is None:
        raise _error(scale, keys, "no size is given", "list sizes, or give each case its size")
    if case.tpp is None and case.tokens is None:
        raise _error(scale, keys, "neither tpp nor tokens is given", "set tpp, the tokens per parameter")
    _check_known(scale, (*keys, "size"), "size", case.size, scale.size_names())
    for name in ("weight_decay", "batch"):
        value = getattr(case, name)
        if isinstance(value, Of):
            _check_known(scale, (*keys, name, "of"), "size", value.of, scale.size_names())
    if case.data is not None:
        names = [MAIN_CORPUS, *(data.name for data in scale.external_data)]
        _check_known(scale, (*keys, "data"), "data", case.data, names)


def _check_known(scale: Scale, keys: Sequence[str | int], what: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        raise _error(scale, keys, f"unknown {what} {name!r}", did_you_mean(name, names))
