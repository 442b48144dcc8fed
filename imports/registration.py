"""Lets Keras load models of this package that no code has imported yet.

A `.keras` file names classes such as `bert>BertClassifier`. Importing all these
classes imports Keras, which is too slow for a script that only prints --help.
So Keras gets placeholders as soon as both Keras and a package with such classes
are imported. A placeholder imports its class when a file needs it.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Iterator, Mapping

from imports.import_hooks import surround_import


def register_classes(
    package: str, names: Mapping[str, str], sibling: str
) -> None:
    """Registers classes in Keras, now or when Keras is imported.

    Args:
        package: the package's name in Keras.
        names: {name of a class: the module that defines it}.
        sibling: name of a package that registers classes too. A file may name
            classes of both packages, so the sibling is imported when Keras is
            imported.
    """
    placeholders = {
        name: _Placeholder(module, name) for name, module in names.items()
    }
    if "keras" in sys.modules:
        _add_placeholders(package, placeholders, sibling)
    else:
        surround_import(
            "keras",
            functools.partial(
                _placeholders_added, package, placeholders, sibling
            ),
        )


@contextlib.contextmanager
def _placeholders_added(
    package: str, placeholders: Mapping[str, "_Placeholder"], sibling: str
) -> Iterator[None]:
    """Adds the classes once Keras is imported."""
    yield
    _add_placeholders(package, placeholders, sibling)


def _add_placeholders(
    package: str, placeholders: Mapping[str, "_Placeholder"], sibling: str
) -> None:
    """Adds placeholders to the classes that Keras knows."""
    # Keras is imported now, but this module must not import it earlier.
    import keras

    objects = keras.saving.get_custom_objects()
    for name, placeholder in placeholders.items():
        # The class itself is registered if its module is imported.
        objects.setdefault(f"{package}>{name}", placeholder)
    importlib.import_module(sibling)


class _Placeholder:
    """Stands for a class, and imports the class when a file needs it."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def from_config(self, config: dict[str, object]) -> object:
        """Imports the class, and creates an object of the class."""
        cls = getattr(importlib.import_module(self._module), self._name)
        return cls.from_config(config)
