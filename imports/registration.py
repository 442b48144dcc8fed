"""Lets Keras load models of this project whose classes no code imported yet.

A `.keras` file names classes such as `bert>BertClassifier`. Importing all these
classes imports Keras, which is too slow for a script that only prints --help.
So Keras gets placeholders as soon as both Keras and a package with such classes
are imported. A placeholder imports its class when a file needs the class.

For example, `import modeling, keras`, then `keras.models.load_model(path)`:

1. `modeling` calls `register_saved_classes`, which imports nothing. When Keras
   is imported, it adds a `_Placeholder` named `bert>BertClassifier` to the
   classes that Keras knows, and so for all others. The names are those that
   `modeling/__init__.py` lists for imports/lazy.py.
2. `load_model` finds this name in the file, and calls `from_config` of the
   placeholder, which imports modeling/task_models.py and creates the model.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence

from imports import lazy
from imports.import_hooks import surround_import
from imports.installation import ROOT


def register_saved_classes(
    modules_of_package: Mapping[str, Sequence[str]],
) -> None:
    """Registers classes in Keras, now or when Keras is imported.

    Args:
        modules_of_package: {package: its modules whose classes a file may
            name}.
    """
    if "keras" in sys.modules:
        _add_placeholders(modules_of_package)
    else:
        surround_import(
            "keras", lambda: _placeholders_added(modules_of_package)
        )


@contextlib.contextmanager
def _placeholders_added(
    modules_of_package: Mapping[str, Sequence[str]],
) -> Iterator[None]:
    """Adds the placeholders once Keras is imported."""
    yield
    _add_placeholders(modules_of_package)


def _add_placeholders(modules_of_package: Mapping[str, Sequence[str]]) -> None:
    """Adds placeholders to the classes that Keras knows."""
    # Keras is imported now, but this module must not import it earlier.
    import keras

    objects = keras.saving.get_custom_objects()
    for module, name in _list_saved_classes(modules_of_package):
        # The class itself is registered if its module is imported.
        objects.setdefault(f"bert>{name}", _Placeholder(module, name))


def _list_saved_classes(
    modules_of_package: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, str]]:
    """Yields (module, name) of each class, without importing the module."""
    for package, saved_modules in modules_of_package.items():
        package_file = ROOT / package.replace(".", "/") / "__init__.py"
        module_of_name = lazy.read_imports(str(package_file))
        for name, module in module_of_name.items():
            if module in saved_modules:
                yield module, name


class _Placeholder:
    """Stands for a class, and imports the class when a file needs it."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def from_config(self, config: dict[str, object]) -> object:
        """Imports the class, and creates an object of the class."""
        cls = getattr(importlib.import_module(self._module), self._name)
        return cls.from_config(config)
