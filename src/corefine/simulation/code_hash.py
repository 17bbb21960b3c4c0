"""A hash of the source that the results of a run depend on."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
ENTRY = "corefine.simulation.runs"
APART = ("corefine.corpora", "corefine.formats")
"""Packages that are left out: a run depends on the documents that they read, and these have their own fingerprint."""

SCHEME = "ast-"
"""Marks a hash of this kind. Earlier versions hashed whole files; such a hash cannot be compared with one of these."""


@cache
def code_hash(package: Path = PACKAGE) -> str:
    """A hash of all modules that a run imports, without their comments and docstrings."""
    digest = hashlib.sha256()
    for name, tree in sorted(_modules(package).items()):
        digest.update(f"{name}\n{ast.unparse(tree)}\n".encode())
    return SCHEME + digest.hexdigest()[:12]


def _modules(package: Path) -> dict[str, ast.Module]:
    """The modules that the entry imports, directly or through others, by name; without what cannot change a result."""
    found: dict[str, ast.Module] = {}
    waiting = [ENTRY]
    while waiting:
        name = waiting.pop()
        path = package.parent.joinpath(*name.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if name in found or name.startswith(APART) or not file.is_file():
            continue
        found[name] = _Code().visit(ast.parse(file.read_bytes()))
        waiting += _imported(found[name])
        waiting.append(name.rpartition(".")[0] or name)
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    """What a module imports of this package, in functions too; a name may be that of a module or of what it holds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("corefine"))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("corefine"):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class _Code(ast.NodeTransformer):
    """Removes what cannot change a result: strings that stand alone, and imports for the type checker."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        self.generic_visit(node)
        return node
