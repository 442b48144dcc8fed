"""Applies an exported model to texts from the command line, a pipe or files.

A request is a JSON object, one per line, or a row of a table, or a line of
plain text. For each request the script writes an answer: a JSON object, a row
of CSV, or a vector. The tasks, each with a request and its answer:

    fill-mask      {"text": "The [MASK] is blue."}  -> {"masks": [[{"token": ..
    next-sentence  {"text_a": "..", "text_b": ".."} -> {"probability": ..}
    classify       {"text": ".."}          -> {"label": .., ..}
    answer         {"question": "..", "context": ".."} -> {"answer": .., ..}
    tag            {"text": ".."} or {"words": [..]}   -> {"words": .., ..}
    embed          {"text": ".."}          -> {"mean_normalized": [..], ..}
    rerank         {"query": "..", "passages": [..]} -> {"ranking": [..]}
    tokenize       {"text": ".."}          -> {"tokens": .., ..}

For pairs, `classify` and `tokenize` read {"text_a": "..", "text_b": ".."}. An
answer begins with all columns of its row, or fields of its JSON object. An
empty text has an empty answer. For a request that fails, the script writes
{"line": number, "error": message}, and its exit status is 1.

Of the commands below, the first answers the requests in a table, and the second
answers a text or a pair of texts on the command line. A task over single texts
answers each text of the command line:

    python predict.py --model=DIR --input_file=a.csv --output_file=b.csv
    python predict.py --model=DIR "a text" ["a second one"]
"""

import dataclasses
import functools
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from absl import logging

from command_line import cli, flags, signals
from command_line.beam_flags import BeamFlags
from command_line.flags import flag, group
from command_line.path_flags import PathKind
from data.io import text_files
from data.jobs.sharded_job import choose_runner
from data.tables import table_formats
from data.tables.layout_options import LayoutOptions
from files.paths import is_remote
from serving.batch import answering, request_files
from serving.batch.answers import answer_writer
from serving.batch.answers.answer_writer import AnswerFormat
from serving.batch.bulk.answer_settings import AnswerSettings
from serving.batch.bulk.job import answer_files
from serving.serving_flags import EngineFlags, TaskFlags
from serving.tasks import TASKS_OF_CLASS
from serving.tasks.text_task import AnyTextTask
from serving.tasks.tokenize import TOKENIZE
from serving.text_model import TextModel, load_once

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

_TASKS = dict.fromkeys(
    task.name for tasks in TASKS_OF_CLASS.values() for task in tasks
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """Flags of the script: the model, the requests and the answers."""

    engine: EngineFlags = group(EngineFlags)
    task_flags: TaskFlags = group(TaskFlags)
    layout: LayoutOptions = group(LayoutOptions)
    beam: BeamFlags = group(BeamFlags)
    model: str = flag(
        ...,
        "Folder of an exported model, which --export_dir wrote. In a folder of "
        "numbered exports, the script uses the highest number. TensorFlow is "
        "needed only if the export is a SavedModel. A SavedModel is a program "
        "that may read and write your files: load only models that you trust.",
        kind=PathKind.MODEL,
    )
    task: str | None = flag(
        None,
        "Task to run. The default is the main task of the model.",
        choices=[*_TASKS, TOKENIZE.name],
    )
    input_file: str | None = flag(
        None,
        "Files that contain the requests, as comma-separated paths or "
        "patterns. The default is standard input.",
        kind=PathKind.INPUT_FILES,
    )
    input_format: table_formats.TableFormat | None = flag(
        None,
        "Format of the requests. jsonl: one JSON object per line, or a list. "
        "csv, tsv, xlsx, parquet: a table. Its columns have the names of the "
        "JSON keys or of the training's table, unless --text_column is set. "
        "text: one text per line. By default, the file's ending determines the "
        "format. For other endings and for standard input, the default is "
        "jsonl if the first line begins with { or a list of objects, else "
        "text.",
        choices=table_formats.FORMATS,
    )
    text_column: str | None = flag(
        None,
        "Name of the column, or the JSON key, that contains the text. For a "
        "table without a header line, the number of the column, from 1.",
    )
    text_b_column: str | None = flag(
        None,
        "Name of the column, or the JSON key, that contains the second text.",
    )
    output_file: str | None = flag(
        None,
        "File to write the answers to. It appears when all requests are "
        "answered. The default is standard output.",
        kind=PathKind.OUTPUT_FILE,
    )
    output_format: answer_writer.AnswerFormat | None = flag(
        None,
        "Format of the answers. By default, the ending of --output_file "
        "determines the format. For other endings, the default is jsonl. npy "
        "can store only a single numeric field.",
        choices=answer_writer.ANSWER_FORMATS,
    )
    output_fields: Sequence[str] | None = flag(
        None,
        "Fields of the answers to write, comma-separated. The default is all "
        "fields. For npy it is the numeric result of the task, such as the "
        "probabilities or the mean vector.",
    )
    batch_size: int = flag(
        32,
        "Maximum number of requests in a batch. Requests from a pipe are "
        "answered one by one.",
        at_least=1,
    )
    num_processes: int | None = flag(
        None,
        "Number of processes that answer the requests of files, each with "
        "--num_threads, which is 1 by default. 0 = one for each processor. "
        "They write files such as OUTPUT-00007-of-00128.csv. The same command "
        "resumes a job that was interrupted.",
        at_least=0,
        at_most=1024,
    )
    num_shards: int | None = flag(
        None,
        "Maximum number of files to write in this way. The default depends on "
        "the size of the input.",
        at_least=1,
        at_most=99_999,
    )

    @property
    def is_bulk(self) -> bool:
        """Whether a flag splits the work into tasks that write shards."""
        values = (self.num_processes, self.num_shards, self.beam.pipeline)
        return any(value is not None for value in values)

    @property
    def num_threads(self) -> int | None:
        """Number of threads of a process, None for one per CPU.

        The processes of a job share the CPUs, so the default of each is 1.
        """
        default = 1 if self.is_bulk else None
        return self.engine.num_threads or default


def check_arguments(input_file: str | None, arguments: Sequence[str]) -> None:
    """Checks that the command line names either texts or files, not both.

    Raises:
        ValueError: it names both, or a file stands where a text is expected.
    """
    if arguments and input_file:
        raise ValueError(
            f"the command names both --input_file={input_file} and the "
            f"texts {[*arguments]}; pass only one of them"
        )
    if files := [*filter(os.path.isfile, arguments)]:
        raise ValueError(f"{files[0]} is a file; set it as --input_file")


def find_files(input_file: str | None) -> list[str]:
    """Returns the paths of --input_file, by default of standard input.

    Raises:
        OSError: no file matches a pattern.
    """
    if not input_file:
        return [text_files.STDIN]
    if os.path.exists(input_file):
        return [input_file]
    return text_files.expand_patterns(input_file, "input_file")


def load_model(config: Config) -> TextModel:
    """Loads the model. The units of a job in this process get the same one.

    Raises:
        OSError, ValueError: the model cannot be loaded.
    """
    return load_once(config.model, config.num_threads, config.engine.engine)


class RequestSource(NamedTuple):
    """The requests to answer, and their number.

    Attributes:
        requests: the requests, as they are read.
        num_requests: their number, None for texts and for a pipe.
    """

    requests: Iterator[request_files.Item]
    num_requests: int | None


def open_requests(
    config: Config,
    task: AnyTextTask,
    texts: Sequence[str],
    paths: Sequence[str],
    trained_columns: Sequence[str | None],
) -> RequestSource:
    """Returns the requests in texts, files or a pipe.

    Files are read twice, to find errors before the script answers any request.

    Args:
        config: flags of the script.
        task: task that will answer the requests.
        texts: texts of the command line. Without texts, the files are read.
        paths: paths of the files.
        trained_columns: columns of the texts that the model was trained on.

    Raises:
        OSError, ValueError: as `request_files.read_requests` raises them.
    """
    if texts:
        return RequestSource(iter(request_files.items_of(task, texts)), None)
    read_paths = functools.partial(
        request_files.read_requests,
        task,
        paths,
        columns=(config.text_column, config.text_b_column),
        layout=config.layout.layout(config.input_format, None),
        trained_columns=trained_columns,
    )
    if not all(map(os.path.isfile, paths)):
        return RequestSource(read_paths(), None)
    return RequestSource(read_paths(), sum(1 for _ in read_paths()))


def answer_in_process(
    config: Config,
    answer_format: AnswerFormat,
    paths: Sequence[str],
    texts: Sequence[str],
) -> int:
    """Loads the model into this process, and answers texts, files or a pipe.

    Args:
        config: flags of the script.
        answer_format: format of the answers.
        paths: paths of the files.
        texts: texts of the command line. Without texts, the files are read.

    Returns:
        the number of requests that failed.

    Raises:
        OSError, ValueError: the model cannot be loaded, or as `open_requests`
            and `answering.write_answer_rows` raise them.
        signals.Stopped: a signal ended the script.
    """
    model = load_model(config)
    task = model.task(config.task)
    logging.info("%s: ready for the task %s", config.model, task.name)
    source = open_requests(config, task, texts, paths, model.columns)
    row_options = answering.RowOptions(
        batch_size=1 if source.num_requests is None else config.batch_size,
        sorts=source.num_requests is not None,
        output_fields=config.output_fields or (),
        keeps_columns=answer_format != "npy",
    )
    answer = functools.partial(
        answering.answer_items,
        model.prepared,
        task,
        config.task_flags,
        source.requests,
        row_options,
    )
    path = config.output_file
    counts = answering.write_answer_rows(
        answer, path, answer_format, source.num_requests
    )
    counts.log(f"wrote {path}" if path else "")
    return counts.num_failed


def answer_in_bulk(
    config: Config,
    answer_format: AnswerFormat,
    paths: Sequence[str],
    beam_options: "PipelineOptions | None",
) -> int:
    """Answers the requests of files as a job, whose units write shards.

    Args:
        config: flags of the script.
        answer_format: format of the answers.
        paths: paths of the files.
        beam_options: options of a Beam pipeline, None to run in processes.

    Returns:
        the number of requests that failed.

    Raises:
        OSError, ValueError: as `answer_files` raises them.
        signals.Stopped: a signal ended the script.
    """
    output_file = config.output_file
    if not (config.input_file and output_file) or is_remote(output_file):
        raise ValueError(
            "--num_processes, --num_shards and --pipeline write several "
            "files: set --input_file, and --output_file to a local path"
        )
    settings = create_settings(config, answer_format)
    run = choose_runner(config.num_processes, beam_options)
    with signals.stoppable():
        result = answer_files(
            settings, paths, output_file, config.num_shards or 0, run
        )
    result.counts.log(result.text)
    return result.counts.num_failed


def create_settings(
    config: Config, answer_format: AnswerFormat
) -> AnswerSettings:
    """Loads the model, and returns the settings that all units of a job share.

    Raises:
        OSError, ValueError: the model cannot be loaded, or lacks the task.
    """
    model = load_model(config)
    return AnswerSettings(
        model=model.path,
        checksum=model.checksum,
        engine=model.engine.name,
        num_threads=config.num_threads,
        task_name=model.task(config.task).name,
        task_flags=config.task_flags,
        layout=config.layout,
        input_format=config.input_format,
        text_columns=(config.text_column, config.text_b_column),
        batch_size=config.batch_size,
        output_format=answer_format,
        output_fields=tuple(config.output_fields or ()),
    )


def main(parsed: flags.Parsed[Config]) -> int:
    """Loads the model, and answers the texts of the command or --input_file.

    Returns the exit status.
    """
    config = parsed.config
    beam_options = config.beam.parse(parsed.arguments, config.num_processes)
    # With Beam, the arguments are its flags, and no texts.
    arguments = parsed.arguments if beam_options is None else ()
    check_arguments(config.input_file, arguments)
    paths = find_files(config.input_file)
    answer_format = answer_writer.choose_format(
        config.output_format, config.output_file
    )
    if config.is_bulk:
        num_failed = answer_in_bulk(config, answer_format, paths, beam_options)
    else:
        num_failed = answer_in_process(config, answer_format, paths, arguments)
    return int(num_failed > 0)


command = functools.partial(
    cli.run, main, Config, takes_beam_flags=True, takes_arguments=True
)

if __name__ == "__main__":
    command()
