"""The flags of predict.py."""

import dataclasses
from collections.abc import Sequence

from data.parallel_jobs.beam_options import BeamOptions
from data.predictions import output_writer
from data.tables.table_layout import FORMATS, LayoutOptions, TableFormat
from options.config import Config
from options.fields import PathType, group, option
from serving.engines import EngineOptions
from serving.text_tasks.text_task import ReplyOptions
from serving.text_tasks.text_task_registry import list_text_tasks


@dataclasses.dataclass(frozen=True, kw_only=True)
class PredictConfig(Config):
    """Flags of predict.py: the model, the requests and the replies."""

    engine_options: EngineOptions = group(EngineOptions)
    reply_options: ReplyOptions = group(ReplyOptions)
    layout_options: LayoutOptions = group(LayoutOptions)
    beam: BeamOptions = group(BeamOptions)
    model: str = option(
        ...,
        "Folder of an exported model, which --export_dir wrote. In a folder of "
        "numbered exports, the script uses the highest number. TensorFlow is "
        "needed only if the export is a SavedModel. A SavedModel is a program "
        "that may read and write your files: load only models that you trust.",
        path_type=PathType.MODEL,
    )
    task: str | None = option(
        None,
        "Task to run. The default is the main task of the model.",
        choices=[text_task.name for text_task in list_text_tasks()],
    )
    input_file: str | None = option(
        None,
        "Files that contain the requests, as comma-separated paths or "
        "patterns. The default is standard input.",
        path_type=PathType.INPUT_FILES,
    )
    input_format: TableFormat | None = option(
        None,
        "Format of the requests. jsonl: one JSON object per line, or a list. "
        "csv, tsv, xlsx, parquet: a table. Its columns have the names of the "
        "JSON keys or of the training's table, unless --text_column is set. "
        "text: one text per line. By default, the file's ending determines the "
        "format. For other endings and for standard input, the default is "
        "jsonl if the first line begins with { or a list of objects, else "
        "text.",
        choices=FORMATS,
    )
    text_column: str | None = option(
        None,
        "Name of the column, or the JSON key, that contains the text. For a "
        "table without a header line, the number of the column, from 1.",
    )
    text_b_column: str | None = option(
        None,
        "Name of the column, or the JSON key, that contains the second text.",
    )
    output_file: str | None = option(
        None,
        "File to write the replies to. It appears when all requests are "
        "answered. The default is standard output.",
        path_type=PathType.OUTPUT_FILE,
    )
    output_format: output_writer.OutputFormat | None = option(
        None,
        "Format of the replies. By default, the ending of --output_file "
        "determines the format. For other endings, the default is jsonl. npy "
        "can store only a single numeric field.",
        choices=output_writer.OUTPUT_FORMATS,
    )
    output_fields: Sequence[str] | None = option(
        None,
        "Fields of the replies to write, comma-separated. The default is all "
        "fields. For npy it is the numeric result of the task, such as the "
        "probabilities or the mean vector.",
    )
    batch_size: int = option(
        32,
        "Maximum number of requests in a batch. Requests from a pipe are "
        "answered one by one.",
        at_least=1,
    )
    num_processes: int | None = option(
        None,
        "Number of processes that answer the requests of files, each with "
        "--num_threads, which is 1 by default. 0 = one for each processor. "
        "They write files such as OUTPUT-00007-of-00128.csv. The same command "
        "resumes a job that was interrupted.",
        at_least=0,
        at_most=1024,
    )
    num_shards: int | None = option(
        None,
        "Maximum number of files to write in this way. The default depends on "
        "the size of the input.",
        at_least=1,
        at_most=99_999,
    )

    @property
    def is_bulk(self) -> bool:
        """Whether a flag splits the work into units that write shards."""
        values = (self.num_processes, self.num_shards, self.beam.pipeline)
        return any(value is not None for value in values)

    @property
    def num_threads(self) -> int | None:
        """Number of threads of a process, None for one per CPU.

        The processes of a job share the CPUs, so the default of each is 1.
        """
        default = 1 if self.is_bulk else None
        return self.engine_options.num_threads or default
