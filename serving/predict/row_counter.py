"""Counts rows as they are answered, and keeps the first errors."""

import dataclasses

from absl import logging

from serving.predict.request_files import InputRow
from serving.text_tasks.asking import Failure
from serving.text_tasks.text_task import Reply
from terminal.progress import Progress

# Maximum number of errors that are logged. The output contains all errors.
MAX_LOGGED = 10


@dataclasses.dataclass
class RowCounter:
    """Counts the requests that are answered, and shows the progress.

    Attributes:
        progress: shows the number of rows, or None.
        num_rows: number of requests that are answered, or failed.
        num_yielded: number of rows that were yielded, and are written.
        errors: the first errors, "line 3: why".
        logs: whether to log the first errors.
    """

    progress: Progress | None = None
    num_rows: int = 0
    num_yielded: int = 0
    errors: list[str] = dataclasses.field(default_factory=list)
    logs: bool = True

    def add(self, num_rows: int) -> None:
        """Counts the rows of a batch, and shows the number now and then."""
        self.num_rows += num_rows
        if self.progress and self.progress.is_due(self.num_rows):
            self.progress.update(self.num_rows)

    def add_failure(self, input_row: InputRow, reply: Reply | Failure) -> None:
        """Keeps and logs the error of a failed row, if it is an early error."""
        if isinstance(reply, Failure) and len(self.errors) < MAX_LOGGED:
            self.errors.append(f"{input_row}: {reply.error}")
            if self.logs:
                logging.warning("%s", self.errors[-1])
