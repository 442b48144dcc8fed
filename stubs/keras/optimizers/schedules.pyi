"""Types of the schedules of learning rates that this project builds on."""

from typing import Any

from modeling.tensors import Tensor

# A step is a number, or a tensor or variable of the backend.
class LearningRateSchedule:
    def __call__(self, step: Any) -> Tensor: ...
    def get_config(self) -> dict[str, Any]: ...
