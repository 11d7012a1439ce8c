"""Which modules a module imports, found in the sources without running them, also inside functions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Imports:
    """What a module imports: modules of its own tree, and top-level names of other packages."""

    own: frozenset[str]
    foreign: frozenset[str]


@dataclass(frozen=True)
class SourceTree:
    """A folder from which packages are imported, such as src."""

    folder: Path

    def file(self, module: str) -> Path | None:
        """Return the file of a module or package, by its dotted name; None where it is not of this tree."""
        stem = self.folder.joinpath(*module.split("."))
        return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)

    def imports(self, module: str) -> Imports:
        """Return what one module imports, its parent packages included. Raises SyntaxError."""
        path = self.file(module)
        assert path is not None, module
        status = path.stat()
        return _imports(self, module, path, (status.st_mtime_ns, status.st_size))

    def closure(self, entries: Iterable[str], follow: Callable[[str], bool] = lambda module: True) -> Imports:
        """Return all that `entries` import, directly or not, themselves included; not through what `follow` refuses."""
        todo, own, foreign = list(entries), set[str](), set[str]()
        while todo:
            module = todo.pop()
            if module in own or not follow(module):
                continue
            own.add(module)
            found = self.imports(module)
            todo.extend(found.own)
            foreign |= found.foreign
        return Imports(frozenset(own), frozenset(foreign))


@lru_cache(maxsize=4096)
def _imports(tree: SourceTree, module: str, path: Path, _stamp: tuple[int, int]) -> Imports:
    """`_stamp` (time, size) keeps an edited file from being taken for what it was."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    own, foreign = set(_parents(module)), set[str]()
    for name in _named(ast.parse(path.read_text(encoding="utf-8"), str(path)), package):
        mine = [part for part in (*_parents(name), name) if tree.file(part)]
        own.update(mine)
        if not mine and (top := name.partition(".")[0]) not in sys.stdlib_module_names:
            foreign.add(top)
    return Imports(frozenset(own), frozenset(foreign))


def _named(tree: ast.Module, package: str) -> Iterable[str]:
    """Yield the dotted name of everything imported; `from a import b` may mean the module a.b, so both are named."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]
