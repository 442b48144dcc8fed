"""The setup of a job: its model, its input and its output, for any process.

A unit of the job may run in another process, on another machine and in another
folder. With the setup it loads the model and reads its part of the input.
"""

import dataclasses
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from data.predictions.output_writer import OutputFormat
from data.tables.file_ranges import FileRange
from data.tables.table_layout import LayoutOptions, TableFormat, TableLayout
from exporting import export_checksums
from exporting.export_formats import ExportFormat
from files.paths import is_remote
from serving.model_cache import MODEL_CACHE
from serving.predict.input_rows import InputRow, read_range_rows
from serving.predict.request_columns import RequestColumns
from serving.text_model import TextModel
from serving.text_tasks.text_task import ReplyOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkModel:
    """The export of a job, and how each process loads it.

    Attributes:
        folder: folder of the export, `TextModel.path`.
        checksum: checksum of the model's files, `TextModel.checksum`.
        engine: format of the engine.
        num_threads: number of threads of a process, None for one per CPU.
    """

    folder: str
    checksum: str
    engine: ExportFormat
    num_threads: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkInput:
    """The format of the requests in the files of a job, and their columns.

    Attributes:
        format: format of the requests. For None, the names of the files
            determine the format.
        layout_options: how the tables are written, such as their delimiter.
        text_columns: names of the columns of the texts, as the flags name them.
        has_several_files: whether there are several files, so that errors name
            their file.
    """

    format: TableFormat | None
    layout_options: LayoutOptions
    text_columns: tuple[str | None, str | None]
    has_several_files: bool

    def table_layout(self) -> TableLayout:
        """Returns the layout of the tables."""
        return self.layout_options.layout(self.format, None)


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkOutput:
    """The format and the fields of the replies in the shards of a job.

    Attributes:
        format: format of the replies.
        fields: fields of the replies to write, () for all fields.
    """

    format: OutputFormat
    fields: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BulkSetup:
    """The model and the flags with which all units of a job reply to requests.

    Attributes:
        model: the export, and how to load it.
        text_task_name: name of the text task of the requests.
        reply_options: options that change the replies.
        batch_size: number of requests in a batch.
        input: how the files contain the requests.
        output: what the shards contain.
        working_folder: folder from which relative paths begin, in any process.
    """

    model: BulkModel
    text_task_name: str
    reply_options: ReplyOptions
    batch_size: int
    input: BulkInput
    output: BulkOutput
    working_folder: str = dataclasses.field(default_factory=os.getcwd)

    def flags(self) -> dict[str, object]:
        """Returns {name: value} of the flags that determine the replies."""
        text_column, text_b_column = self.input.text_columns
        return {
            "task": self.text_task_name,
            "engine": self.model.engine,
            "num_threads": self.model.num_threads,
            "input_format": self.input.format,
            "text_column": text_column,
            "text_b_column": text_b_column,
            "output_format": self.output.format,
            "output_fields": [*self.output.fields],
            "batch_size": self.batch_size,
            **dataclasses.asdict(self.reply_options),
            **dataclasses.asdict(self.input.layout_options),
        }

    def load_text_model(self) -> TextModel:
        """Returns the model, which each process loads only once.

        Raises:
            ValueError: the folder contains another model than when the job
                began.
        """
        text_model = MODEL_CACHE.load(
            TextModel,
            self.absolute_path_of(self.model.folder),
            self.model.num_threads,
            self.model.engine,
            self.model.checksum,
        )
        self._check_checksum(text_model.checksum)
        self.check_model_files()
        return text_model

    def check_model_files(self) -> None:
        """Checks that the folder still contains the model of the job.

        Raises:
            ValueError: the folder contains another model.
            OSError: a file of the model cannot be read.
        """
        folder = Path(self.absolute_path_of(self.model.folder))
        self._check_checksum(
            export_checksums.compute_export_checksum(folder, self.model.engine)
        )

    def _check_checksum(self, checksum: str) -> None:
        if checksum != self.model.checksum:
            raise ValueError(
                f"{self.model.folder} contains another model than when the job "
                "began. Restore it and run the same command to resume, or "
                "answer all texts with the new model in another --output_file"
            )

    def absolute_path_of(self, path: str) -> str:
        """Returns an absolute path. Workers may run in other folders."""
        return (
            path if is_remote(path) else os.path.join(self.working_folder, path)
        )

    def read_input_rows(
        self, ranges: Iterable[FileRange]
    ) -> Iterator[InputRow]:
        """Yields the rows in ranges of the input, as `read_range_rows` does."""
        text_model = self.load_text_model()
        columns = RequestColumns.choose(
            text_model.text_task(self.text_task_name),
            self.input.text_columns,
            text_model.columns,
        )
        for file_range in ranges:
            path = self.absolute_path_of(file_range.path)
            yield from read_range_rows(
                file_range._replace(path=path),
                columns,
                self.input.table_layout(),
                file=file_range.path if self.input.has_several_files else "",
            )
