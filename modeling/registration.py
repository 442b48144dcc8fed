"""Lets Keras load models of this package that no code has imported yet.

A `.keras` file names classes such as `bert>BertClassifier`. Importing all of
them imports Keras, for which a script that prints --help has no time. So Keras
gets placeholders, as soon as both it and `modeling` are imported. A placeholder
imports its class when a file needs it.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from command_line.import_hooks import surround_import


def register(package: str, names: Mapping[str, str]) -> None:
    """Registers classes in Keras, now or when Keras is imported.

    Args:
        package: the package's name in Keras.
        names: {name of a class: the module that defines it}.
    """
    if "keras" in sys.modules:
        _add(package, names)
    else:
        surround_import("keras", functools.partial(_adding, package, names))


@contextlib.contextmanager
def _adding(package: str, names: Mapping[str, str]) -> Iterator[None]:
    # Adds the classes once Keras is imported.
    yield
    _add(package, names)


def _add(package: str, names: Mapping[str, str]) -> None:
    # Keras is imported now, but this module must not import it earlier.
    import keras

    objects = keras.saving.get_custom_objects()
    for name, module in names.items():
        # The class itself is there if its module is imported.
        objects.setdefault(f"{package}>{name}", _Placeholder(module, name))


class _Placeholder:
    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def from_config(self, config: dict[str, Any]) -> object:
        """Creates an object of the class, which its import registers."""
        cls = getattr(importlib.import_module(self._module), self._name)
        return cls.from_config(config)
