"""Applies an exported model to texts from the command line, a pipe or files.

A request is a JSON object, one per line, or a row of CSV, TSV or Parquet, or a
line of plain text. For each request the script writes an answer: a JSON object,
or a row of a table. The tasks, each with a request and its answer:

    fill-mask      {"text": "The [MASK] is blue."}  -> {"masks": [[{"token": ..
    next-sentence  {"text_a": "..", "text_b": ".."} -> {"probability": ..}
    classify       {"text_a": ".."[, "text_b": ".."]}  -> {"label": .., ..}
    answer         {"question": "..", "context": ".."} -> {"answer": .., ..}
    tag            {"text": ".."} or {"words": [..]}   -> {"words": .., ..}
    embed          {"text": ".."}          -> {"mean_normalized": [..], ..}
    rerank         {"query": "..", "passages": [..]} -> {"ranking": [..]}
    tokenize       {"text_a": ".."[, "text_b": ".."]}  -> {"tokens": .., ..}
    attention      {"text_a": ".."[, "text_b": ".."]}  -> {"attention": .., ..}

`classify`, `tokenize` and `attention` also accept {"text": ".."}. The script
copies the "id" of a request to its answer. For a request that fails, the script
writes {"line": number, "error": message}, and its exit status is 1.

Of the commands below, the first answers the requests in a table, the second
answers texts on the command line, and the third writes an HTML page that shows
attention:

    python predict.py --model=DIR --input_file=a.parquet --output_file=b.csv
    python predict.py --model=DIR "a text" ["a second one"]
    python predict.py attention --model=DIR "a text" ["a second one"]
"""

import dataclasses
import functools
import itertools
import os
import re
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absl import logging

from data.io import tables, text_files
from files.atomic import atomic_open, is_remote
from files.flags import flag
from files.paths import Kind
from serving import answer_files, requests
from serving.engines import EngineConfig
from serving.tasks.base import TaskOptions
from training.command_line import cli

if TYPE_CHECKING:
    from serving import TextModel
    from serving.tasks import base

# Exit status with which shells report a broken pipe (SIGPIPE).
_BROKEN_PIPE = 141
_TASKS = (
    *("fill-mask", "next-sentence", "classify", "answer", "tag", "embed"),
    *("rerank", "tokenize", "attention"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(EngineConfig, TaskOptions):
    """Flags of the script: the model, the requests and the answers."""

    model: str = flag(
        ...,
        "Folder of an exported model, which --export_dir wrote. In a folder of "
        "numbered exports, the script uses the highest number. TensorFlow is "
        "needed only if the export is a SavedModel. The script rejects a "
        "SavedModel that might access your files: see --allow_any_operation.",
        kind=Kind.MODEL,
    )
    task: str | None = flag(
        None,
        "Task to run. The default is the main task of the model.",
        choices=_TASKS,
    )
    input_file: str | None = flag(
        None,
        "Files that contain the requests, as comma-separated paths or "
        "patterns. The default is standard input.",
        kind=Kind.INPUT_FILES,
    )
    input_format: str | None = flag(
        None,
        "Format of the requests. jsonl: one JSON object per line. csv, tsv, "
        "parquet: a table. Its columns have the names of the JSON keys, unless "
        "--text_column is set. text: one text per line. By default, the "
        "file's ending determines the format. For other endings and for "
        "standard input, the default is jsonl if the first line begins with {, "
        "else text.",
        choices=tables.FORMS,
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
    quoting: bool = flag(
        True,
        'Whether " quotes the cells of CSV and TSV. With --noquoting, " is an '
        "ordinary character.",
    )
    shard: str | None = flag(
        None,
        "Answer only a part of the requests: 2/4 is the second quarter. "
        "Joining the JSON lines of all parts in order results in the same "
        "output as one run.",
    )
    output_file: str | None = flag(
        None,
        "File to write the answers to. The default is standard output. If a "
        "run is killed, the same command continues from FILE.unfinished. For "
        "`attention`, the HTML page to write, by default attention.html.",
        kind=Kind.OUTPUT_FILE,
    )
    output_format: str | None = flag(
        None,
        "Format of the answers. By default, the ending of --output_file "
        "determines the format. For other endings, the default is jsonl. npy "
        "can store only a single numeric field.",
        choices=answer_files.FORMS,
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
        "answered without waiting for a full batch.",
        at_least=1,
    )
    strict: bool = flag(
        False, "Stop at the first request that cannot be answered."
    )
    keep_going: bool = flag(
        False,
        "Exit with status 0 even if some requests could not be answered.",
    )

    def find_inputs(self) -> list[str]:
        """Returns the paths of --input_file, or [text_files.STDIN].

        Raises:
            FileNotFoundError: no file matches --input_file.
            ValueError: the format is Parquet, but --input_file is not set.
        """
        if self.input_file and os.path.exists(self.input_file):
            return [self.input_file]
        if self.input_file:
            return text_files.expand_patterns(self.input_file, "input_file")
        if self.input_format == "parquet":
            raise ValueError("--input_format=parquet needs --input_file")
        return [text_files.STDIN]

    def find_shard(self) -> tuple[int, int]:
        """Parses --shard. Returns (number of the part, number of parts).

        Returns (1, 1) if the flag is not set.

        Raises:
            ValueError: --shard is malformed.
        """
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", self.shard or "1/1")
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise ValueError(
                f"--shard={self.shard} must be I/N: part I, counted from 1, of "
                "N parts, such as 1/4 or 4/4"
            )
        return number, count

    def check_task(self, task: "base.TextTask") -> None:
        """Raises a ValueError if a flag is set that the task does not use."""
        for field in dataclasses.fields(TaskOptions):
            is_set = getattr(self, field.name) != field.default
            if is_set and field.name not in task.flags:
                raise ValueError(
                    f"--{field.name} is not used by the task {task.name}. "
                    "Remove the flag, or set another --task"
                )

    def load(self) -> "TextModel":
        """Loads --model with the options that the other flags set."""
        # Import late, so that errors in flags appear before TensorFlow loads.
        import serving

        return serving.load(self.model, **self.engine_options())


def to_request(task: "base.TextTask", texts: Sequence[Any]) -> dict[str, Any]:
    """Converts the texts of the command line to a request.

    The texts become the fields of the task, in order. If the last field is a
    list, it contains all remaining texts.

    Raises:
        ValueError: there are too few or too many texts, or the task cannot
            answer them.
    """
    given: Sequence[Any] = texts
    if task.lists and len(texts) > 1:
        given = [texts[0], [*texts[1:]]]
    if not sum(task.fields.values()) <= len(given) <= len(task.fields):
        raise ValueError(
            f"{task.name}: pass these texts in this order, each in quotes: "
            f"{', '.join(task.fields)}. Received: {[*texts]}"
        )
    request = dict(zip(task.fields, given, strict=False))
    task.check(request)
    return request


def main(config: Config, arguments: Sequence[str]) -> int:
    """Loads the model, and answers the texts in `arguments` or --input_file.

    Returns the exit status.
    """
    if arguments[:1] == ["attention"]:
        return draw_attention(config, arguments[1:])
    if arguments and config.input_file:
        raise ValueError(
            f"the command names both --input_file={config.input_file} and the "
            f"texts {[*arguments]}; pass only one of them"
        )
    if not config.task and arguments[:1] and arguments[0] in _TASKS:
        raise ValueError(
            f"the text {arguments[0]!r} is the name of a task. Set --task="
            f"{arguments[0]} to run this task. If {arguments[0]!r} is a text "
            "to process, set --task to the task that processes it"
        )
    paths, shard = config.find_inputs(), config.find_shard()
    # Files, unlike pipes, can be read twice: first to count the requests, then
    # to answer them.
    is_table = not arguments and all(map(os.path.isfile, paths))
    if config.shard and not is_table:
        raise ValueError(
            f"--shard={config.shard} needs an input that can be read twice. "
            "Set --input_file to files, not pipes"
        )
    path = config.output_file
    form = answer_files.find_form(config.output_format, path)
    model = config.load()
    from serving import answers

    task = model.task(config.task, config)
    config.check_task(task)
    logging.info("%s: ready for the task %s", config.model, task.name)
    columns = config.text_column, config.text_b_column
    read = functools.partial(
        requests.read, task, paths, config.input_format, config.quoting, columns
    )
    count: int | None = None
    batches: answers.Batches
    if arguments:
        batches = iter([[requests.Item(1, to_request(task, arguments))]])
    elif is_table:
        # Count the requests first, to find errors in the files before the
        # script answers any request.
        count = requests.count(task, read(), paths)
        start, end = requests.cut_shard(count, shard, config.batch_size)
        count = end - start
        rows = itertools.islice(read(), start, end)
        batches = requests.cut_batches(rows, config.batch_size)
    else:
        batches = requests.read_batches(read(), config.batch_size)
    fields = answer_files.Fields(config.output_fields, form)
    answerer = answers.Answerer(task, config.strict, fields)
    is_stream = path is None or (
        os.path.exists(path) and not os.path.isfile(path)
    )
    try:
        if form == "jsonl" and is_stream:
            answers.write_stream(path, answerer, batches)
        else:
            settings = None
            if is_table and path and not is_stream and not is_remote(path):
                settings = describe(config, model, paths, form)
            with answers.open_unfinished(path, settings) as file:
                start = file.tell()
                answers.write_rows(file, answerer, batches, count)
                file.seek(start)
                answer_files.write(file, form, path)
    except BrokenPipeError:
        # The reader of standard output closed the pipe. Replace the pipe, so
        # that Python does not fail again when it flushes the output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    logging.info(
        "%d %s answered, %d failed%s",
        answerer.num_answers,
        "line" if answerer.num_answers == 1 else "lines",
        answerer.num_errors,
        f"; wrote {path}" if path else "",
    )
    return int(answerer.num_errors > 0 and not config.keep_going)


def describe(
    config: Config, model: "TextModel", inputs: Sequence[str], form: str
) -> dict[str, Any]:
    """Describes the flags and the files on which the answers depend.

    A run continues a killed run only if the descriptions of both are equal.
    """
    flags = dataclasses.asdict(config)
    for name in ("output_file", "output_format", "keep_going"):
        del flags[name]
    files = [*map(Path, inputs), *sorted(Path(model.path).rglob("*"))]
    stamps = [
        (os.path.realpath(file), status.st_size, status.st_mtime_ns)
        for file in files
        # Skip files that this run writes, because --output_file may be in the
        # folder of the model.
        if file.suffix not in (".unfinished", ".lock")
        and stat.S_ISREG((status := file.stat()).st_mode)
    ]
    engine = {"engine": model.engine.name, "is_array": form == "npy"}
    return {"flags": flags | engine, "files": stamps}


def draw_attention(config: Config, texts: Sequence[str]) -> int:
    """Writes an HTML page that shows a model's attention in one or two texts.

    Returns the exit status.

    Raises:
        ValueError: the number of texts is not 1 or 2.
        FileExistsError: attention.html exists, but this script did not write
            it.
    """
    if len(texts) not in (1, 2):
        raise ValueError(
            f"attention needs one or two texts. Received: {[*texts]}"
        )
    path = config.output_file or "attention.html"
    # Import late, so that errors in flags appear before TensorFlow loads.
    from serving import attention_page

    if config.output_file is None and os.path.lexists(path):
        begin, found = attention_page.FIRST_LINE.encode(), b""
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found = file.read(len(begin))
        if found != begin:
            raise FileExistsError(
                f"{path} already exists and is not an attention page; set "
                "another --output_file"
            )
    # Only SavedModels compute attention weights.
    engine = config.engine or "saved_model"
    model = dataclasses.replace(config, engine=engine).load()
    answer = model.attention(*texts)
    with atomic_open(path) as writer:
        writer.write(attention_page.render(answer))
    logging.info("Open %s in a browser", path)
    return 0


command = functools.partial(cli.run, main, Config, takes_arguments=True)

if __name__ == "__main__":
    command()
