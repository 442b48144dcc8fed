"""Types of the layers that this project builds on."""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, Self, TypedDict, TypeVar, Unpack

from keras import DTypePolicy, Variable
from keras.initializers import Initializer

from modeling.tensors import Tensor

_P = ParamSpec("_P")
_R_co = TypeVar("_R_co", covariant=True)

class _LayerOptions(TypedDict, total=False):
    dtype: str | DTypePolicy | None
    name: str | None
    trainable: bool

class _HasCall(Protocol[_P, _R_co]):
    def call(self, *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...

class Layer:
    built: bool
    compute_dtype: str
    dtype: str
    name: str
    trainable: bool
    trainable_variables: list[Variable]
    variable_dtype: str
    variables: list[Variable]
    weights: list[Variable]
    def __init__(
        self,
        *,
        trainable: bool = True,
        dtype: str | DTypePolicy | None = None,
        name: str | None = None,
        **kwargs: object,
    ) -> None: ...
    @property
    def dtype_policy(self) -> DTypePolicy: ...
    @dtype_policy.setter
    def dtype_policy(self, value: DTypePolicy | str) -> None: ...
    # A layer takes and returns what the method `call` of its class does.
    def __call__(
        self: _HasCall[_P, _R_co], *args: _P.args, **kwargs: _P.kwargs
    ) -> _R_co: ...
    def _flatten_layers(self) -> list[Layer]: ...
    def add_weight(
        self,
        *,
        shape: Sequence[int | None] | None = None,
        initializer: Initializer | str | None = None,
        autocast: bool = True,
        name: str | None = None,
    ) -> Variable: ...
    def build_from_config(self, config: dict[str, Any]) -> None: ...
    def count_params(self) -> int: ...
    # A subclass says which tensors it takes, and what it returns.
    def build(self, *shapes: Any, **named_shapes: Any) -> None: ...
    def call(self, *args: Any, **kwargs: Any) -> Any: ...
    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any: ...
    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any: ...
    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self: ...
    def get_build_config(self) -> dict[str, Any]: ...
    def get_config(self) -> dict[str, Any]: ...

class Dense(Layer):
    bias: Variable
    kernel: Variable
    units: int
    def __init__(
        self,
        units: int,
        activation: Callable[[Tensor], Tensor] | str | None = None,
        use_bias: bool = True,
        kernel_initializer: Initializer | str = "glorot_uniform",
        **options: Unpack[_LayerOptions],
    ) -> None: ...
    # By default, as in the call of the layer around it.
    def call(self, inputs: Tensor, training: bool = ...) -> Tensor: ...
    def quantize(
        self, mode: str, type_check: bool = True, config: object = None
    ) -> None: ...

class LayerNormalization(Layer):
    beta: Variable
    epsilon: float
    gamma: Variable
    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-3,
        **options: Unpack[_LayerOptions],
    ) -> None: ...
    def call(self, inputs: Tensor) -> Tensor: ...

class LSTMCell(Layer):
    bias: Variable
    kernel: Variable
    recurrent_kernel: Variable

class LSTM(Layer):
    cell: LSTMCell
    def __init__(
        self,
        units: int,
        *,
        kernel_initializer: Initializer | str = "glorot_uniform",
        recurrent_initializer: Initializer | str = "orthogonal",
        return_sequences: bool = False,
        **options: Unpack[_LayerOptions],
    ) -> None: ...

class Bidirectional(Layer):
    forward_layer: LSTM
    backward_layer: LSTM
    def __init__(
        self, layer: Layer, **options: Unpack[_LayerOptions]
    ) -> None: ...
    def call(
        self,
        sequences: Tensor,
        initial_state: Sequence[Tensor] | None = None,
        mask: Tensor | None = None,
        training: bool = ...,
    ) -> Tensor: ...
