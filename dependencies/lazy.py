"""Imports the names of a package at their first use.

Packages such as `modeling` and `exporting` import their names late, because a
script should print --help, or report a wrong flag, before the script imports
TensorFlow. Such a package lists its names twice: as imports, which only type
checkers and editors read, and in a dict. A test compares the two:

    if TYPE_CHECKING:
        from modeling.bert import BertModel as BertModel

    _MODULE_OF_NAME = {"BertModel": "modeling.bert"}
    __all__ = [*_MODULE_OF_NAME]
    __getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)

What these lines do, step by step:

1. `import modeling` skips the block, since TYPE_CHECKING is False when Python
   runs.
2. A script uses `modeling.BertModel`. The package has no such name yet, so
   Python calls `modeling.__getattr__("BertModel")`, which imports
   `modeling.bert` and returns its class.
3. The function has also added the class to the package. Python finds it there
   at the next use, and does not call the function.
"""

import importlib
import sys
from collections.abc import Callable, Mapping


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
