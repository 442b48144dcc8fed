"""Imports the names of a package at their first use.

`modeling` and `serving` import their names late, because a script should print
--help, or report a wrong flag, before the script imports TensorFlow. Such a
package lists its names once, as imports that Python skips and that type
checkers and editors read:

    if TYPE_CHECKING:
        from modeling.bert import BertModel as BertModel

    _MODULE_OF_NAME = lazy.read_imports(__file__)
    __all__ = [*_MODULE_OF_NAME]
    __getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)

What these lines do, step by step:

1. `import modeling` skips the block, since TYPE_CHECKING is False when Python
   runs. `read_imports` reads the block from the file, as text. Afterwards
   `_MODULE_OF_NAME` is {"BertModel": "modeling.bert"}.
2. A script uses `modeling.BertModel`. The package has no such name yet, so
   Python calls `modeling.__getattr__("BertModel")`, which imports
   `modeling.bert` and returns its class.
3. The function has also added the class to the package. Python finds it there
   at the next use, and does not call the function.

A dict of the names would list them a second time, because type checkers and
editors read only imports. So a package needs its source file, not only its
bytecode.
"""

import ast
import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def read_imports(path: str) -> dict[str, str]:
    """Returns {name: its module} of the imports under `if TYPE_CHECKING`.

    Args:
        path: path of a Python file, such as the `__file__` of a package.
    """
    return _find_imports(Path(path).read_text("utf-8"))


def _find_imports(source: str) -> dict[str, str]:
    """Returns {name: its module}, as `read_imports`, from the text of a file.

    >>> _find_imports('''
    ... import sys
    ... if TYPE_CHECKING:
    ...     from modeling.bert import BertModel as BertModel
    ...     from modeling.losses import SpanLoss as SpanLoss
    ... ''')
    {'BertModel': 'modeling.bert', 'SpanLoss': 'modeling.losses'}
    """
    blocks = [
        block
        for block in ast.parse(source).body
        if isinstance(block, ast.If)
        and ast.unparse(block.test) == "TYPE_CHECKING"
    ]
    statements = [statement for block in blocks for statement in block.body]
    return {
        alias.name: statement.module
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }


def create_importer(
    package: str, modules: Mapping[str, str]
) -> Callable[[str], object]:
    """Returns the function `__getattr__` of a package.

    Python calls this function for each name that the package does not contain
    yet. The function adds the name to the package, so that it runs only once
    for each name.

    Args:
        package: the package's `__name__`.
        modules: {name: the module that defines it}.
    """

    def import_name(name: str) -> object:
        if name not in modules:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}"
            )
        value = getattr(importlib.import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return import_name
