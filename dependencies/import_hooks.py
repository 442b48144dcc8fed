"""Runs code before and after the first import of a package.

For example, TensorFlow prints lines while it loads, and `import tensorflow` may
stand in any package. terminal/logs.py calls
`surround_import("tensorflow", _silent_stderr)`, step by step:

1. `surround_import` puts a `_Finder` in front of Python's own finders of
   modules. Nothing is imported yet.
2. Some code runs `import tensorflow`. Python asks the `_Finder` for the spec of
   the package, and the `_Finder` asks the other finders.
3. The `_Finder` replaces the function of the spec that executes the package, by
   one that does so in `with _silent_stderr():`.
4. Python executes the package so. The `_Finder` then removes itself.
"""

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import ModuleType


def surround_import(
    package: str, enter: Callable[[], AbstractContextManager[None]]
) -> None:
    """Makes Python import a package inside a `with` block of a context.

    Args:
        package: name of the package, which is not imported yet.
        enter: function that returns the context. It is called once.
    """
    sys.meta_path.insert(0, _Finder(package, enter))


class _Finder:
    """Finder of modules that imports one package inside a context."""

    def __init__(
        self, package: str, enter: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._package = package
        self._enter = enter

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns the package's import spec, None for other modules."""
        if name != self._package:
            return None
        # Python has already asked the finders before this finder, so ask only
        # the later finders. One of these may be a _Finder for the same package.
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next(filter(None, specs), None)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        # A caller may ask for the spec without importing the package, so this
        # finder stays in place until the import.
        def exec_module(module: ModuleType) -> None:
            with self._enter():
                execute(module)
            sys.meta_path.remove(self)

        setattr(spec.loader, "exec_module", exec_module)  # noqa: B010  a method
        return spec
