"""What a job asks of its input, and the model that each process loads once."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from data.io import tables
from data.io.table_pieces import Piece
from serving import requests
from serving.models import TextModel
from serving.tasks.base import TaskOptions, TextTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class Questions:
    """What is asked of each share of the input.

    Attributes:
        model: folder of the export, `TextModel.path`.
        engine: name of the runtime.
        num_threads: number of threads of a process.
        task: name of the task.
        options: options of the task.
        layout: flags of tables.
        input_format: format of the requests, None = their names tell.
        columns: names of the columns of the texts, as for `requests.read`.
        batch_size: number of requests in a batch.
        output_format: format of the answers, one of answers.FORMS.
        output_fields: fields of the answers to write, () for all fields.
    """

    model: str
    engine: str
    num_threads: int
    task: str
    options: TaskOptions
    layout: tables.LayoutOptions
    input_format: str | None
    columns: tuple[str | None, str | None]
    batch_size: int
    output_format: str
    output_fields: tuple[str, ...]

    def flags(self) -> dict[str, Any]:
        """Returns {name: value} of the flags that determine the answers."""
        text_column, text_b_column = self.columns
        return {
            "task": self.task,
            "engine": self.engine,
            "num_threads": self.num_threads,
            "input_format": self.input_format,
            "text_column": text_column,
            "text_b_column": text_b_column,
            "output_format": self.output_format,
            "output_fields": [*self.output_fields],
            "batch_size": self.batch_size,
            **dataclasses.asdict(self.options),
            **dataclasses.asdict(self.layout),
        }

    def load(self) -> tuple[TextModel, TextTask]:
        """Returns the model and its task. A process loads the model once."""
        model = load_model(self.model, self.num_threads, self.engine)
        return model, model.task(self.task)

    def table_layout(self) -> tables.Layout:
        """Returns how the input is written."""
        return self.layout.layout(self.input_format, None)

    def read(
        self, pieces: Sequence[str | Piece], names_files: bool
    ) -> Iterator[requests.Item]:
        """Yields the requests in files or pieces, as `requests.read` does."""
        model, task = self.load()
        return requests.read(
            task,
            pieces,
            self.columns,
            self.table_layout(),
            model.columns,
            names_files,
        )


# The model of this process, which keeps it for its next task.
# {(folder, number of threads, runtime): model}
_kept: dict[tuple[str, int, str], TextModel] = {}


def load_model(path: str, num_threads: int, engine: str | None) -> TextModel:
    """Returns a model, as `serving.load` does. A process loads it only once."""
    model = _kept.get((path, num_threads, engine or ""))
    if model is None:
        model = TextModel(path, num_threads, engine)
        _kept.clear()
        _kept[model.path, num_threads, model.engine.name] = model
    return model
