"""Types of the functions that save and load Keras's objects."""

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeVar

from keras import Model

_T = TypeVar("_T")

# Of any object of Keras: of what class it is, only its config tells.
def deserialize_keras_object(
    config: object,
    custom_objects: dict[str, Any] | None = None,
    safe_mode: bool = True,
) -> Any: ...
def get_custom_objects() -> dict[str, Any]: ...
def load_model(
    filepath: str | PathLike[str],
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool | None = None,
) -> Model: ...
def register_keras_serializable(
    package: str = "Custom", name: str | None = None
) -> Callable[[_T], _T]: ...
def serialize_keras_object(obj: object) -> dict[str, Any]: ...
