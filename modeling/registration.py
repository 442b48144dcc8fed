"""Lets Keras load models of this package that no code has imported yet.

A `.keras` file names classes such as `bert>BertClassifier`. Importing all of
them imports Keras, for which a script that prints --help has no time. So Keras
gets placeholders, as soon as both it and `modeling` are imported. A placeholder
imports its class when a file needs it.
"""

import functools
import importlib
import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any


def register(
    package: str, names: Mapping[str, str], *, is_imported: bool = True
) -> None:
    """Registers classes in Keras, now or when Keras is imported.

    Args:
        package: the package's name in Keras.
        names: {name of a class: the module that defines it}.
        is_imported: False if the caller must not import the modules. A file
            that needs one of the classes is then an error that says which
            import is missing, until another call registers the class.
    """
    kind = _Placeholder if is_imported else _Missing
    add = functools.partial(
        _add, package, {name: kind(names[name], name) for name in names}
    )
    if "keras" in sys.modules:
        add()
    else:
        sys.meta_path.insert(0, _KerasImport(add))


def _add(package: str, placeholders: Mapping[str, "_Placeholder"]) -> None:
    # Keras is imported now, but this module must not import it earlier.
    import keras

    objects = keras.saving.get_custom_objects()
    for name, placeholder in placeholders.items():
        # The class itself is there if its module is imported.
        known = objects.setdefault(f"{package}>{name}", placeholder)
        if isinstance(known, _Missing):
            objects[f"{package}>{name}"] = placeholder


class _Placeholder:
    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def from_config(self, config: dict[str, Any]) -> object:
        """Creates an object of the class, which its import registers."""
        cls = getattr(importlib.import_module(self._module), self._name)
        return cls.from_config(config)


class _Missing(_Placeholder):
    def from_config(self, config: dict[str, Any]) -> object:
        """Says which import creates the class."""
        raise ImportError(
            f"this file contains {self._name}: `import {self._module}` before "
            "you load it"
        )


class _KerasImport:
    def __init__(self, add: functools.partial[None]) -> None:
        self._add = add

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Returns Keras's import spec, None for other modules."""
        if name != "keras":
            return None
        # Python has asked the finders before this one. One of them may be the
        # _KerasImport of another package, which asks this one.
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        specs = (each.find_spec(name, path, target) for each in others)
        spec = next(filter(None, specs), None)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        # A caller may ask for the spec without importing Keras.
        def exec_module(module: ModuleType) -> None:
            execute(module)
            sys.meta_path.remove(self)
            self._add()

        setattr(spec.loader, "exec_module", exec_module)  # noqa: B010  a method
        return spec
