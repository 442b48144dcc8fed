"""Types of what this project's models, layers and tensors build on.

Keras ships no types. To use another name, add it here. What a subclass declares
more exactly, such as the structure of its batch, is Any. So are the values of a
config, which may come from a file.

Keras has no class of tensors, because each backend has its own. So these stubs
import `Tensor` of modeling/tensors.py, and serve only this project.
"""

# ruff: noqa: N801, N802  Keras names a function like a class, and the reverse.

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, ParamSpec, Self, TypeVar, overload

import numpy as np
from keras import activations as activations
from keras import backend as backend
from keras import config as config
from keras import initializers as initializers
from keras import layers as layers
from keras import losses as losses
from keras import ops as ops
from keras import optimizers as optimizers
from keras import quantizers as quantizers
from keras import random as random
from keras import saving as saving
from keras import tree as tree
from keras import utils as utils
from keras.callbacks import History
from keras.initializers import Initializer
from keras.layers import Layer as Layer

from modeling.tensors import Index, Operand, Tensor

_P = ParamSpec("_P")
_R = TypeVar("_R")

# A variable is a Tensor of modeling/tensors.py.
class Variable:
    dtype: str
    name: str
    path: str
    shape: tuple[int, ...]
    trainable: bool
    # The variable or tensor of the backend.
    value: Any
    def __init__(
        self,
        initializer: Initializer | Tensor | float | str,
        shape: Sequence[int] | None = None,
        dtype: str | None = None,
        trainable: bool = True,
        *,
        name: str | None = None,
    ) -> None: ...
    def __add__(self, other: Operand, /) -> Tensor: ...
    def __array__(self, dtype: object = None) -> np.ndarray: ...
    def __eq__(self, other: Operand, /) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> float: ...
    def __floordiv__(self, other: Operand, /) -> Tensor: ...
    def __ge__(self, other: Operand, /) -> Tensor: ...
    def __getitem__(self, index: Index, /) -> Tensor: ...
    def __gt__(self, other: Operand, /) -> Tensor: ...
    def __le__(self, other: Operand, /) -> Tensor: ...
    def __lt__(self, other: Operand, /) -> Tensor: ...
    def __mul__(self, other: Operand, /) -> Tensor: ...
    def __ne__(self, other: Operand, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __radd__(self, other: Operand, /) -> Tensor: ...
    def __rmul__(self, other: Operand, /) -> Tensor: ...
    def __rsub__(self, other: Operand, /) -> Tensor: ...
    def __sub__(self, other: Operand, /) -> Tensor: ...
    def __truediv__(self, other: Operand, /) -> Tensor: ...
    def assign(self, value: Tensor | float) -> object: ...
    def numpy(self) -> np.ndarray: ...

class Model(Layer):
    # As `compile` got them. None before.
    loss: Any
    optimizer: Any
    _compile_metrics: Any
    # A functional model has positional arguments.
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def compile(
        self,
        optimizer: object = "rmsprop",
        loss: object = None,
        loss_weights: object = None,
        metrics: object = None,
        weighted_metrics: object = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: bool | str = "auto",
        auto_scale_loss: bool = True,
    ) -> None: ...
    def compile_from_config(self, config: dict[str, Any]) -> None: ...
    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor: ...
    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Tensor]: ...
    @overload
    def evaluate(
        self,
        x: object = None,
        y: object = None,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        sample_weight: object = None,
        steps: int | None = None,
        callbacks: Sequence[object] | None = None,
        *,
        return_dict: Literal[True],
    ) -> dict[str, float]: ...
    # Only the loss, if `compile` got no metrics.
    @overload
    def evaluate(
        self,
        x: object = None,
        y: object = None,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        sample_weight: object = None,
        steps: int | None = None,
        callbacks: Sequence[object] | None = None,
        return_dict: Literal[False] = False,
    ) -> float | list[float]: ...
    def export(
        self,
        filepath: str | PathLike[str],
        format: str = "tf_saved_model",
        verbose: bool | None = None,
        input_signature: Sequence[object] | None = None,
        **kwargs: object,
    ) -> None: ...
    def fit(
        self,
        x: object = None,
        y: object = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int | str = "auto",
        callbacks: Sequence[object] | None = None,
        validation_split: float = 0.0,
        validation_data: object = None,
        shuffle: bool = True,
        class_weight: object = None,
        sample_weight: object = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int = 1,
    ) -> History: ...
    def make_predict_function(
        self, force: bool = False
    ) -> Callable[..., Any]: ...
    # The tensors are arrays.
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        steps: int | None = None,
        callbacks: Sequence[object] | None = None,
    ) -> Tensor | Mapping[str, Tensor]: ...
    def predict_step(self, *arguments: object) -> Any: ...
    def quantize(
        self,
        mode: str | None = None,
        config: Any = None,
        filters: Any = None,
    ) -> None: ...
    def save(
        self,
        filepath: object,
        overwrite: bool = True,
        zipped: bool | None = None,
    ) -> None: ...
    def test_step(self, *arguments: object) -> dict[str, Tensor]: ...
    def train_step(self, *arguments: object) -> dict[str, Tensor]: ...

class DTypePolicy:
    name: str
    def get_config(self) -> dict[str, Any]: ...

class InputSpec:
    def __init__(
        self,
        dtype: str | None = None,
        shape: Sequence[int | None] | None = None,
        *,
        name: str | None = None,
    ) -> None: ...

class KerasTensor:
    dtype: str
    shape: tuple[int | None, ...]
    def __init__(
        self, shape: Sequence[int | None], dtype: str = "float32"
    ) -> None: ...

class StatelessScope:
    def __init__(
        self,
        state_mapping: Sequence[tuple[Variable, Tensor]] | None = None,
        collect_losses: bool = False,
        initialize_variables: bool = True,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def add_update(self, update: tuple[Variable, Tensor]) -> None: ...

class name_scope:
    def __init__(self, name: str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...

__version__: str

def Input(
    shape: Sequence[int | None] | None = None,
    batch_size: int | None = None,
    dtype: str | None = None,
    *,
    name: str | None = None,
) -> Tensor: ...
def remat(f: Callable[_P, _R]) -> Callable[_P, _R]: ...
