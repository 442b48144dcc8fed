"""Types of traced functions."""

from collections.abc import Callable
from typing import Any, Generic

from typing_extensions import ParamSpec, TypeVar

_T = TypeVar("_T", default=Any, covariant=True)
_P = ParamSpec("_P", default=...)

class PolymorphicFunction(Generic[_P, _T]):
    python_function: Callable[_P, _T]
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T: ...
    # Takes tensors, or their types, or Python's values. It has a graph.
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any: ...
