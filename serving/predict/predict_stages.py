"""The stages of predict.py: from its flags to the written replies.

Call `check_arguments` and `list_input_files`, and then `reply_in_bulk` if
`PredictConfig.is_bulk`, else `reply_in_process`.
"""

import functools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from absl import logging

from data.io import text_files
from data.parallel_jobs.job import choose_unit_runner
from data.predictions.output_writer import (
    OutputCounts,
    OutputFormat,
    write_output,
)
from files.paths import is_remote
from serving.model_cache import MODEL_CACHE
from serving.predict.bulk_job import BulkJob
from serving.predict.bulk_setup import (
    BulkInput,
    BulkModel,
    BulkOutput,
    BulkSetup,
)
from serving.predict.input_rows import (
    InputRow,
    create_input_rows,
    read_input_rows,
)
from serving.predict.predict_config import PredictConfig
from serving.predict.reply_loop import RowCounter, RowOptions, reply_to_rows
from serving.predict.request_columns import RequestColumns
from serving.text_model import TextModel
from terminal import signals
from terminal.progress import Progress

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions


def check_arguments(input_file: str | None, arguments: Sequence[str]) -> None:
    """Checks that the command line names either texts or files, not both.

    Raises:
        ValueError: the command line names both, or a file stands where a text
            is expected.
    """
    if arguments and input_file:
        raise ValueError(
            f"the command names both --input_file={input_file} and the "
            f"texts {[*arguments]}; pass only one of them"
        )
    if files := [*filter(os.path.isfile, arguments)]:
        raise ValueError(f"{files[0]} is a file; set it as --input_file")


def list_input_files(input_file: str | None) -> list[str]:
    """Returns the paths of --input_file, by default of standard input.

    Raises:
        OSError: no file matches a pattern.
    """
    if not input_file:
        return [text_files.STDIN]
    if os.path.exists(input_file):
        return [input_file]
    return text_files.expand_patterns(input_file, "input_file")


def reply_in_process(
    config: PredictConfig,
    output_format: OutputFormat,
    paths: Sequence[str],
    texts: Sequence[str],
) -> int:
    """Writes the replies to texts, files or a pipe, in this process.

    Args:
        config: the model, its text task, and where the replies are written.
        output_format: format of the replies.
        paths: paths of the files.
        texts: texts of the command line. Without texts, the files are read.

    Returns:
        the number of requests that failed.

    Raises:
        signals.SignalInterrupt: a signal ended the script. The message says how
            many rows got a reply.
    """
    text_model = _load_text_model(config)
    text_task = text_model.text_task(config.task)
    logging.info("%s: ready for the task %s", config.model, text_task.name)
    source = _open_rows(config, text_model, texts, paths)
    counts = _write_replies(config, output_format, text_model, source)
    counts.log(f"wrote {config.output_file}" if config.output_file else "")
    return counts.num_failed


class _RowSource(NamedTuple):
    """The rows of the input, and their number.

    Attributes:
        input_rows: the rows, as they are read.
        num_rows: number of rows, None for texts and for a pipe.
    """

    input_rows: Iterator[InputRow]
    num_rows: int | None


def _open_rows(
    config: PredictConfig,
    text_model: TextModel,
    texts: Sequence[str],
    paths: Sequence[str],
) -> _RowSource:
    """Returns the requests in texts, files or a pipe.

    Files are read now, to check their rows, and again for the replies. A pipe
    cannot be read twice.

    Args:
        config: the columns and the layout of the files.
        text_model: model that will get the requests.
        texts: texts of the command line. Without texts, the files are read.
        paths: paths of the files.
    """
    text_task = text_model.text_task(config.task)
    if texts:
        return _RowSource(iter(create_input_rows(text_task, texts)), None)
    columns = RequestColumns.choose(
        text_task,
        (config.text_column, config.text_b_column),
        text_model.columns,
    )
    read_paths = functools.partial(
        read_input_rows,
        paths,
        columns,
        config.layout_options.layout(config.input_format, None),
    )
    num_rows = None
    if all(map(os.path.isfile, paths)):
        # Read all rows, so that an error in a table appears before any reply. A
        # row of another format that is no request counts too.
        num_rows = sum(1 for _ in read_paths())
    return _RowSource(read_paths(), num_rows)


def _write_replies(
    config: PredictConfig,
    output_format: OutputFormat,
    text_model: TextModel,
    source: _RowSource,
) -> OutputCounts:
    """Writes the replies to rows, shows the progress, and counts the rows."""
    path = config.output_file
    with (
        signals.stoppable() as ignore_signals,
        Progress(
            source.num_rows,
            unit="row",
            examples_per_unit=1,
            examples_name="rows",
            description="Predicting",
        ) as progress,
    ):
        counter = RowCounter(progress if path else None)
        rows = reply_to_rows(
            text_model.loaded_export,
            text_model.text_task(config.task),
            source.input_rows,
            _choose_row_options(config, output_format, source),
            counter,
        )
        try:
            return write_output(path, output_format, rows, ignore_signals)
        except signals.SignalInterrupt as stopped:
            raise stopped.with_text(_describe_rows(counter, path)) from None


def _choose_row_options(
    config: PredictConfig, output_format: OutputFormat, source: _RowSource
) -> RowOptions:
    """Decides how to batch the rows. A pipe gets no batches: its user waits."""
    is_file = source.num_rows is not None
    return RowOptions(
        reply_options=config.reply_options,
        batch_size=config.batch_size if is_file else 1,
        sorts_by_length=is_file,
        output_fields=config.output_fields or (),
        keeps_columns=output_format != "npy",
    )


def _describe_rows(counter: RowCounter, path: str | None) -> str:
    """Describes the rows in `path` after a signal has ended the script."""
    if path:
        return f"after {counter.num_rows} rows; nothing was written"
    return f"after {counter.num_yielded} rows"


def reply_in_bulk(
    config: PredictConfig,
    output_format: OutputFormat,
    paths: Sequence[str],
    beam_options: "PipelineOptions | None",
) -> int:
    """Replies to the requests of files as a job, whose units write shards.

    Args:
        config: the model, its text task, and the number of processes and
            shards.
        output_format: format of the replies.
        paths: paths of the files.
        beam_options: options of a Beam pipeline, None to run in processes.

    Returns:
        the number of requests that failed.

    Raises:
        ValueError: --input_file is not set, or --output_file is not a local
            path.
    """
    output_file = config.output_file
    if not (config.input_file and output_file) or is_remote(output_file):
        raise ValueError(
            "--num_processes, --num_shards and --pipeline write several "
            "files: set --input_file, and --output_file to a local path"
        )
    job = BulkJob(
        setup=_create_bulk_setup(
            config, _load_text_model(config), output_format, paths
        ),
        input_files=paths,
        output_file=output_file,
        num_shards=config.num_shards or 0,
    )
    unit_runner = choose_unit_runner(config.num_processes, beam_options)
    with signals.stoppable():
        manifest, is_new = job.run(unit_runner)
    counts = OutputCounts(**manifest["answers"])
    pattern = job.paths.pattern(len(manifest["shards"]))
    counts.log(f"wrote {pattern}" if is_new else f"already wrote {pattern}")
    return counts.num_failed


def _create_bulk_setup(
    config: PredictConfig,
    text_model: TextModel,
    output_format: OutputFormat,
    paths: Sequence[str],
) -> BulkSetup:
    """Returns what the units of a job share."""
    return BulkSetup(
        model=BulkModel(
            folder=text_model.path,
            checksum=text_model.checksum,
            engine=text_model.engine.name,
            num_threads=config.num_threads,
        ),
        text_task_name=text_model.text_task(config.task).name,
        reply_options=config.reply_options,
        batch_size=config.batch_size,
        input=BulkInput(
            format=config.input_format,
            layout_options=config.layout_options,
            text_columns=(config.text_column, config.text_b_column),
            has_several_files=len(paths) > 1,
        ),
        output=BulkOutput(
            format=output_format,
            fields=tuple(config.output_fields or ()),
        ),
    )


def _load_text_model(config: PredictConfig) -> TextModel:
    """Loads the model, which a job in this process uses for its units too."""
    return MODEL_CACHE.load(
        TextModel,
        config.model,
        config.num_threads,
        config.engine_options.engine,
    )
