"""Types of the layers that this project builds on."""

from typing import Any, Self

from keras import Variable
from keras.initializers import Initializer

from modeling.tensors import Tensor

class Layer:
    built: bool
    compute_dtype: str
    dtype: str
    dtype_policy: Any
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
        dtype: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None: ...
    # The arguments are those of the method `call` of a subclass.
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _flatten_layers(self) -> list[Layer]: ...
    def add_weight(self, **options: Any) -> Variable: ...
    def build(self, *shapes: Any, **named_shapes: Any) -> None: ...
    def build_from_config(self, config: dict[str, Any]) -> None: ...
    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any: ...
    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any: ...
    def count_params(self) -> int: ...
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
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Initializer | str = "glorot_uniform",
        **options: Any,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Tensor: ...
    def quantize(
        self, mode: str, type_check: bool = True, config: Any = None
    ) -> None: ...

class LayerNormalization(Layer):
    beta: Variable
    epsilon: float
    gamma: Variable
    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-3,
        **options: Any,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Tensor: ...

class LSTM(Layer):
    cell: Any
    def __init__(
        self,
        units: int,
        *,
        kernel_initializer: Initializer | str = "glorot_uniform",
        recurrent_initializer: Initializer | str = "orthogonal",
        return_sequences: bool = False,
        **options: Any,
    ) -> None: ...

class Bidirectional(Layer):
    forward_layer: LSTM
    backward_layer: LSTM
    def __init__(self, layer: Layer, **options: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Tensor: ...
