"""Types of the functions of `tf.summary` that this project calls."""

from contextlib import AbstractContextManager

from tensorflow._tensors import Value

class SummaryWriter:
    def as_default(
        self, step: int | None = None
    ) -> AbstractContextManager[object]: ...
    def close(self) -> None: ...
    def flush(self) -> None: ...

def create_file_writer(
    logdir: str, *, filename_suffix: str | None = None
) -> SummaryWriter: ...
def scalar(name: str, data: Value, step: int | None = None) -> object: ...
