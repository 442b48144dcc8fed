"""Lets Keras load models of this project whose classes no code imported yet.

A `.keras` file names classes such as `bert>BertClassifier`. Importing all these
classes imports Keras, which is too slow for a script that only prints --help.
So Keras gets placeholders as soon as both Keras and a package with such classes
are imported. A placeholder imports its class when a file needs the class.

For example, `import modeling, keras`, then `keras.models.load_model(path)`:

1. `modeling` calls `register_saved_classes`, which imports nothing. When Keras
   is imported, it adds a `_Placeholder` named `bert>BertClassifier` to the
   classes that Keras knows, and so for all others. It cannot wait until some
   code uses `modeling`, because the call of `load_model` does not.
2. `load_model` finds this name in the file, and calls `from_config` of the
   placeholder, which imports modeling/task_models.py and creates the model.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator, Mapping

from dependencies.import_hooks import surround_import


def register_saved_classes(module_of_class: Mapping[str, str]) -> None:
    """Registers classes in Keras, now or when Keras is imported.

    Args:
        module_of_class: {name of a class that a file may name: its module}.
    """
    if "keras" in sys.modules:
        _add_placeholders(module_of_class)
    else:
        surround_import("keras", lambda: _placeholders_added(module_of_class))


@contextlib.contextmanager
def _placeholders_added(module_of_class: Mapping[str, str]) -> Iterator[None]:
    """Adds the placeholders once Keras is imported."""
    yield
    _add_placeholders(module_of_class)


def _add_placeholders(module_of_class: Mapping[str, str]) -> None:
    """Adds placeholders to the classes that Keras knows."""
    # Keras is imported now, but this module must not import it earlier.
    import keras

    objects = keras.saving.get_custom_objects()
    for name, module in module_of_class.items():
        # The class itself is registered if its module is imported.
        objects.setdefault(f"bert>{name}", _Placeholder(module, name))


class _Placeholder:
    """Stands for a class, and imports the class when a file needs it."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def from_config(self, config: dict[str, object]) -> object:
        """Imports the class, and creates an object of the class."""
        cls = getattr(importlib.import_module(self._module), self._name)
        return cls.from_config(config)
