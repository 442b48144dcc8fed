"""Types of the functions of `tf.autograph.experimental` in use."""

from collections.abc import Callable
from typing import TypeVar

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., object])

def do_not_convert(func: _FunctionT) -> _FunctionT: ...
