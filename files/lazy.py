"""Lazy imports: names of a package, imported when they are first used.

A script answers --help and names a wrong flag before it needs TensorFlow, so
`import modeling` must not load it: `modeling.BertClassifier` does.
"""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def on_first_use(package: str, path: str) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a package (PEP 562).

    It runs the imports under `if TYPE_CHECKING:` in the package, each when its
    name is first used, so type checkers and people see plain imports.

    Args:
        package: `__name__` of the package.
        path: its `__file__`.
    """
    modules = {
        alias.name: node.module
        for block in ast.parse(Path(path).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If)
        and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def __getattr__(name: str) -> Any:
        if name not in modules:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}"
            )
        value = getattr(importlib.import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__
