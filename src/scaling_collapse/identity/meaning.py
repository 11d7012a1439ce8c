"""Python source as what it means: hashed without comments, docstrings, layout and the version of Python."""

from __future__ import annotations

import ast
import hashlib
from typing import Any

#: Syntax nodes that can have a docstring.
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
#: Module variables that decide no number: a release does not retrain a model.
LABELS = frozenset({"__version__", "__all__"})


def meaning(source: str) -> str:
    """Return the SHA-256 of the syntax tree of Python source, as 64 hexadecimal digits. Raises SyntaxError."""
    return hashlib.sha256(_written(_stripped(ast.parse(source))).encode()).hexdigest()


def _stripped(tree: ast.Module) -> ast.Module:
    """Take out docstrings and labels."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    tree.body = [node for node in tree.body if not _is_label(node)]
    return tree


def _is_label(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in LABELS for t in node.targets)


def _written(value: Any) -> str:
    """Write a tree without its empty fields: which fields a node has differs between versions of Python."""
    if isinstance(value, ast.AST):
        fields = ((name, getattr(value, name, None)) for name in value._fields if name not in ("kind", "type_comment"))
        inner = ",".join(f"{name}={_written(field)}" for name, field in fields if field not in (None, []))
        return f"{type(value).__name__}({inner})"
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    return repr(value)
