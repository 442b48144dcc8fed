"""The setup of a job, and the model that each process loads once."""

import dataclasses
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from data.predictions.output_writer import OutputFormat
from data.tables.file_ranges import FileRange
from data.tables.table_layout import LayoutOptions, TableFormat, TableLayout
from exporting import checksums
from exporting.export_formats import ExportFormat
from files.paths import is_remote
from serving.model_cache import MODEL_CACHE
from serving.predict.input_rows import InputRow, read_range_rows
from serving.predict.request_parser import RequestColumns
from serving.text_model import TextModel
from serving.text_tasks.asking import ModelAsker
from serving.text_tasks.text_task import ReplyOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkSetup:
    """The model and the flags with which all units of a job reply to requests.

    Attributes:
        model: folder of the export, `TextModel.path`.
        checksum: checksum of the model's files, `TextModel.checksum`.
        engine: format of the engine.
        num_threads: number of threads of a process, None for one per CPU.
        text_task_name: name of the text task of the requests.
        reply_options: options that change the replies.
        layout_options: how the tables are written, such as their delimiter.
        input_format: format of the requests. For None, the names of the files
            determine the format.
        text_columns: names of the columns of the texts, as the flags name them.
        has_several_files: whether the input has several files, so that errors
            name their file.
        batch_size: number of requests in a batch.
        output_format: format of the replies.
        output_fields: fields of the replies to write, () for all fields.
        working_folder: folder from which relative paths begin, in any process.
    """

    model: str
    checksum: str
    engine: ExportFormat
    num_threads: int | None
    text_task_name: str
    reply_options: ReplyOptions
    layout_options: LayoutOptions
    input_format: TableFormat | None
    text_columns: tuple[str | None, str | None]
    has_several_files: bool
    batch_size: int
    output_format: OutputFormat
    output_fields: tuple[str, ...]
    working_folder: str = dataclasses.field(default_factory=os.getcwd)

    def flags(self) -> dict[str, object]:
        """Returns {name: value} of the flags that determine the replies."""
        text_column, text_b_column = self.text_columns
        return {
            "task": self.text_task_name,
            "engine": self.engine,
            "num_threads": self.num_threads,
            "input_format": self.input_format,
            "text_column": text_column,
            "text_b_column": text_b_column,
            "output_format": self.output_format,
            "output_fields": [*self.output_fields],
            "batch_size": self.batch_size,
            **dataclasses.asdict(self.reply_options),
            **dataclasses.asdict(self.layout_options),
        }

    def load(self) -> TextModel:
        """Returns the model, which each process loads only once.

        Raises:
            ValueError: the folder contains another model than `checksum`.
        """
        text_model = MODEL_CACHE.load(
            TextModel,
            self.absolute_path_of(self.model),
            self.num_threads,
            self.engine,
            self.checksum,
        )
        self._check_checksum(text_model.checksum)
        self.check_model_files()
        return text_model

    def create_asker(self) -> ModelAsker:
        """Returns the `ModelAsker` that computes the replies of the job."""
        text_model = self.load()
        return ModelAsker(
            text_model.text_engine,
            text_model.text_task(self.text_task_name),
            self.reply_options,
        )

    def check_model_files(self) -> None:
        """Checks that the folder still contains the model of the job.

        Raises:
            ValueError: the folder contains another model.
            OSError: a file of the model cannot be read.
        """
        folder = Path(self.absolute_path_of(self.model))
        self._check_checksum(
            checksums.compute_export_checksum(folder, self.engine)
        )

    def _check_checksum(self, checksum: str) -> None:
        if checksum != self.checksum:
            raise ValueError(
                f"{self.model} contains another model than when the job began. "
                "Restore it and run the same command to resume, or answer all "
                "texts with the new model in another --output_file"
            )

    def absolute_path_of(self, path: str) -> str:
        """Returns an absolute path. Workers may run in other folders."""
        return (
            path if is_remote(path) else os.path.join(self.working_folder, path)
        )

    def table_layout(self) -> TableLayout:
        """Returns the layout of the tables in the input."""
        return self.layout_options.layout(self.input_format, None)

    def read_input_rows(
        self, ranges: Iterable[FileRange]
    ) -> Iterator[InputRow]:
        """Yields the rows in ranges of the input, as `read_range_rows` does."""
        text_model = self.load()
        columns = RequestColumns.choose(
            text_model.text_task(self.text_task_name),
            self.text_columns,
            text_model.columns,
        )
        for file_range in ranges:
            path = self.absolute_path_of(file_range.path)
            yield from read_range_rows(
                file_range._replace(path=path),
                columns,
                self.table_layout(),
                file=file_range.path if self.has_several_files else "",
            )
