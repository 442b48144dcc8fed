"""Types of what traces, runs and differentiates graphs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar, overload

from tensorflow._tensors import Operation, Tensor, Value
from tensorflow.types.experimental import PolymorphicFunction
from typing_extensions import ParamSpec

_ElementT = TypeVar("_ElementT")
_T = TypeVar("_T")
_P = ParamSpec("_P")

class Module:
    name: str
    # Traced functions and variables are attributes of a module.
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

class GradientTape:
    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True
    ) -> None: ...
    def __enter__(self) -> GradientTape: ...
    def __exit__(self, *exception: object) -> None: ...
    # One gradient for each source, in the structure of `sources`. It is None
    # if the target does not depend on the source.
    def gradient(
        self, target: object, sources: object, output_gradients: object = None
    ) -> Any: ...
    def watch(self, tensor: object) -> None: ...

def cond(
    pred: Value, true_fn: Callable[[], _T], false_fn: Callable[[], _T]
) -> _T: ...
def control_dependencies(
    control_inputs: Iterable[Operation | Tensor | None],
) -> AbstractContextManager[None]: ...
def custom_gradient(
    f: Callable[_P, tuple[_T, Callable[..., Any]]],
) -> Callable[_P, _T]: ...
def device(device_name: str | None) -> AbstractContextManager[None]: ...
def executing_eagerly() -> bool: ...
@overload
def function(
    func: Callable[_P, _T],
    input_signature: Sequence[object] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    *,
    experimental_attributes: Mapping[str, object] | None = None,
) -> PolymorphicFunction[_P, _T]: ...
@overload
def function(
    func: None = None,
    input_signature: Sequence[object] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    *,
    experimental_attributes: Mapping[str, object] | None = None,
) -> Callable[[Callable[_P, _T]], PolymorphicFunction[_P, _T]]: ...
def name_scope(name: str) -> AbstractContextManager[str]: ...

# `elems` and the result are stacks of what `fn` takes and returns, in the
# same structure.
def map_fn(
    fn: Callable[[_ElementT], _T],
    elems: _ElementT,
    *,
    parallel_iterations: int | None = None,
    fn_output_signature: object = None,
) -> _T: ...
def scan(
    fn: Callable[[_T, _ElementT], _T],
    elems: _ElementT,
    initializer: _T,
    *,
    reverse: bool = False,
) -> _T: ...

# The functions get the items of `loop_vars`, but tensors in place of numbers.
def while_loop(
    cond: Callable[..., Value],
    body: Callable[..., object],
    loop_vars: _T,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    *,
    maximum_iterations: Value | None = None,
) -> _T: ...
