"""Types of traced functions."""

from collections.abc import Callable, Sequence
from typing import Any, Generic

from tensorflow._tensors import Variable
from typing_extensions import ParamSpec, TypeVar

_T = TypeVar("_T", default=Any, covariant=True)
_P = ParamSpec("_P", default=...)

class PolymorphicFunction(Generic[_P, _T]):
    python_function: Callable[_P, _T]
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T: ...
    # The arguments are tensors, or their types, or Python's values.
    def get_concrete_function(
        self, *args: Any, **kwargs: Any
    ) -> ConcreteFunction: ...

class _FuncGraph:
    variables: Sequence[Variable]

# The graph of one signature, which takes its tensors.
class ConcreteFunction:
    graph: _FuncGraph
    structured_input_signature: Any
    structured_outputs: Any
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
