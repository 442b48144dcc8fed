"""Types of the optimizers that this project builds on."""

from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

from keras import Variable
from keras.optimizers import schedules as schedules

from modeling.tensors import Tensor

InnerT = TypeVar("InnerT", bound="Optimizer")

class Optimizer:
    built: bool
    iterations: Variable
    # Of the next update: a variable or a tensor. It can be set to a number.
    learning_rate: Any
    name: str
    variables: list[Variable]
    def __init__(
        self,
        learning_rate: float | schedules.LearningRateSchedule,
        **options: object,
    ) -> None: ...
    # Of a variable of Keras, or of the backend.
    def _get_variable_index(self, variable: object) -> int: ...
    # One list for each name.
    def add_optimizer_variables(
        self, trainable_variables: Sequence[Variable], name: list[str]
    ) -> list[list[Variable]]: ...
    def apply(
        self,
        grads: Sequence[Tensor],
        trainable_variables: Sequence[Variable] | None = None,
    ) -> object: ...
    def build(self, variables: Sequence[Variable]) -> None: ...
    def exclude_from_weight_decay(
        self,
        var_list: Sequence[Variable] | None = None,
        var_names: Sequence[str] | None = None,
    ) -> None: ...
    def _use_weight_decay(self, variable: Variable) -> bool: ...
    def get_config(self) -> dict[str, Any]: ...
    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self: ...

class LossScaleOptimizer(Optimizer, Generic[InnerT]):
    dynamic_scale: Variable
    step_counter: Variable
    inner_optimizer: InnerT
    def __init__(
        self,
        inner_optimizer: InnerT,
        initial_scale: float = 32768.0,
        dynamic_growth_steps: int = 2000,
        **kwargs: object,
    ) -> None: ...

class AdamW(Optimizer):
    def __init__(
        self,
        learning_rate: float | schedules.LearningRateSchedule = 0.001,
        weight_decay: float = 0.004,
        **options: object,
    ) -> None: ...
