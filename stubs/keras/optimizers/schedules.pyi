"""Types of the schedules of learning rates that this project builds on."""

from typing import Any

class LearningRateSchedule:
    def __call__(self, step: Any) -> Any: ...
    def get_config(self) -> dict[str, Any]: ...
