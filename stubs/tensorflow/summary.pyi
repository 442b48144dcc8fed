"""Types of the functions of `tf.summary` that this project calls."""

from contextlib import AbstractContextManager
from typing import Any

from tensorflow._tensors import Value

class SummaryWriter:
    def as_default(
        self, step: int | None = None
    ) -> AbstractContextManager[Any]: ...
    def close(self) -> None: ...
    def flush(self) -> None: ...

def create_file_writer(
    logdir: Any, filename_suffix: str | None = None
) -> SummaryWriter: ...
def scalar(name: str, data: Value, step: int | None = None) -> Any: ...
