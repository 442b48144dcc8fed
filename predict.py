"""Applies an exported model to texts from the command line, a pipe or files.

Reads JSON objects, one per line, or rows of CSV, TSV or Parquet, or lines of
plain text. Writes one JSON object, or one row of a table, for each request:

    fill-mask      {"text": "The [MASK] is blue."}  -> {"masks": [[{"token": ..
    next-sentence  {"text_a": "..", "text_b": ".."} -> {"probability": ..}
    classify       {"text_a": ".."[, "text_b": ".."]}  -> {"label": .., ..}
    answer         {"question": "..", "context": ".."} -> {"answer": .., ..}
    tag            {"text": ".."} or {"words": [..]}   -> {"words": .., ..}
    embed          {"text": ".."}          -> {"mean_normalized": [..], ..}
    rerank         {"query": "..", "passages": [..]} -> {"ranking": [..]}
    score          {"text": ".."}                      -> {"score": .., ..}
    zero-shot      {"text": "..", "labels": [..]}    -> {"label": .., ..}
    tokenize       {"text_a": ".."[, "text_b": ".."]}  -> {"tokens": .., ..}
    attention      {"text_a": ".."[, "text_b": ".."]}  -> {"attention": .., ..}

`classify`, `tokenize` and `attention` also accept {"text": ".."}. The script
copies the "id" of a request to the answer. For a line that it cannot answer, it
writes {"line", "error"}, and its exit status is 1.

The first command answers the rows of a table. The second answers texts on the
command line. The third writes an HTML page that shows attention:

    python predict.py --model=DIR --input_file=a.parquet --output_file=b.csv
    python predict.py --model=DIR "a text" ["a second one"]
    python predict.py attention --model=DIR "a text" ["a second one"]
"""

import dataclasses
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
from serving.requests import TaskOptions
from training.command_line import cli

if TYPE_CHECKING:
    from serving import TextModel
    from serving.tasks import base

# Exit status that shells use for a broken pipe (SIGPIPE).
_BROKEN_PIPE = 141
_TASKS = (
    *("fill-mask", "next-sentence", "classify", "answer", "tag", "embed"),
    *("rerank", "score", "zero-shot", "tokenize", "attention"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(EngineConfig, TaskOptions):
    """The model, the requests and the answers."""

    model: str = flag(
        ...,
        "Export that --export_dir wrote, or a folder of numbered exports, to "
        "use the newest. Only a SavedModel needs TensorFlow. A SavedModel is a "
        "program: see --allow_any_operation.",
        kind=Kind.MODEL,
    )
    task: str | None = flag(
        None,
        "Task to run. By default the main task of the model.",
        choices=_TASKS,
    )
    input_file: str | None = flag(
        None,
        "Files of requests, comma-separated paths or patterns. By default "
        "standard input.",
        kind=Kind.INPUT_FILES,
    )
    input_format: str | None = flag(
        None,
        "jsonl: one JSON object per line. csv, tsv, parquet: a table. Its "
        "columns are named like the keys of the JSON objects, unless "
        "--text_column names a column. text: one text per line. By default "
        "the file's ending decides. For other endings, a first line that "
        "begins with { means jsonl.",
        choices=tables.FORMS,
    )
    text_column: str | None = flag(
        None,
        "Column, or JSON key, of the text. A number, from 1, selects a column "
        "of a table without a header line.",
    )
    text_b_column: str | None = flag(
        None, "Column, or JSON key, of the second text."
    )
    quoting: bool = flag(
        True,
        'Treat " in CSV and TSV as a quote. --noquoting treats it as an '
        "ordinary character.",
    )
    shard: str | None = flag(
        None,
        "Answer only one part of the rows, such as 1/4 to 4/4. The JSON lines "
        "of all parts, joined in order, equal the output of one run.",
    )
    output_file: str | None = flag(
        None,
        "File of answers to write. By default standard output. If a run is "
        "killed, the same command continues from FILE.unfinished. For "
        "`attention`: HTML page to write, by default attention.html.",
        kind=Kind.OUTPUT_FILE,
    )
    output_format: str | None = flag(
        None,
        "Format of the answers. By default the ending of --output_file "
        "decides, else jsonl. npy contains only one numeric field.",
        choices=[*answer_files.ENDINGS.values()],
    )
    output_fields: Sequence[str] | None = flag(
        None,
        "Fields of the answers to write, comma-separated. By default all "
        "fields, or for npy the probabilities, the value or the mean vector.",
    )
    batch_size: int = flag(
        32,
        "Maximum number of rows in a batch. Rows from a pipe are answered "
        "without waiting for a full batch.",
        at_least=1,
    )
    strict: bool = flag(
        False, "Stop at the first line that cannot be answered."
    )
    keep_going: bool = flag(
        False, "Exit with status 0 even if some lines could not be answered."
    )

    def find_inputs(self) -> list[str]:
        """Returns the files to read, or the name of standard input.

        Raises:
            FileNotFoundError: no file matches --input_file.
            ValueError: the input is Parquet from a pipe.
        """
        if self.input_file and os.path.exists(self.input_file):
            return [self.input_file]
        if self.input_file:
            return text_files.expand_patterns(self.input_file, "input_file")
        if self.input_format == "parquet":
            raise ValueError("--input_format=parquet needs --input_file")
        return [text_files.STDIN]

    def find_shard(self) -> tuple[int, int]:
        """Returns (part, number of parts) of --shard, by default (1, 1).

        Raises:
            ValueError: --shard is malformed.
        """
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", self.shard or "1/1")
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise ValueError(
                f"--shard={self.shard} must be a part and the number of parts, "
                "such as 1/4 to 4/4"
            )
        return number, count

    def load(self, default: str | None = None) -> "TextModel":
        """Loads the model with the flags' options.

        Args:
            default: engine to use if --engine is not set. None = choose one.
        """
        # Import late, so that wrong flags do not wait for TensorFlow.
        import serving

        options = self.engine_options()
        options["engine"] = self.engine or default
        return serving.load(self.model, **options)


def to_request(task: "base.TextTask", texts: Sequence[Any]) -> dict[str, Any]:
    """Converts the texts of the command line to a request.

    Each text becomes a field, in order. If the last field is a list, it gets
    all remaining texts.

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
    """Loads the model, and answers the command line's texts or the input."""
    if arguments[:1] == ["attention"]:
        return draw_attention(config, arguments[1:])
    if arguments and config.input_file:
        raise ValueError(
            f"the command names both --input_file={config.input_file} and the "
            f"texts {[*arguments]}; pass only one of them"
        )
    if not config.task and arguments[:1] and arguments[0] in _TASKS:
        raise ValueError(
            f"{arguments[0]!r} is the name of a task. Set --task="
            f"{arguments[0]}, or set --task if it is a text"
        )
    paths, shard = config.find_inputs(), config.find_shard()
    # Pipes cannot be read twice.
    is_table = not arguments and all(map(os.path.isfile, paths))
    if config.shard and not is_table:
        raise ValueError(
            f"--shard={config.shard} needs an --input_file that is not a pipe"
        )
    form = config.output_format or answer_files.form_of(config.output_file)
    answer_files.check_form(form)
    model = config.load()
    from serving import answers

    task = model.task(config.task, config)
    logging.info("%s: ready to %s", config.model, task.name)
    source = requests.Source(
        paths=paths,
        form=config.input_format,
        quoting=config.quoting,
        columns=(config.text_column, config.text_b_column),
    )
    count: int | None = None
    batches: answers.Batches
    if arguments:
        batches = iter([[(requests.Place(1), to_request(task, arguments))]])
    elif is_table:
        # `count` also checks the files before any long work.
        count = source.count(task)
        start, end = requests.cut_shard(count, shard, config.batch_size)
        count = end - start
        rows = itertools.islice(source.read(task), start, end)
        batches = requests.cut_batches(rows, config.batch_size)
    else:
        batches = requests.read_batches(source.read(task), config.batch_size)
    fields = answer_files.Fields(config.output_fields, form)
    answerer = answers.Answerer(task, config.strict, fields)
    path = config.output_file
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
        # The reader closed the pipe. Leave nothing to flush at exit.
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
    """Returns the flags and the files on which the answers depend.

    A killed run resumes only if they are unchanged.
    """
    flags = dataclasses.asdict(config)
    for name in ("output_file", "output_format", "keep_going"):
        del flags[name]
    files = [*map(Path, inputs), *sorted(Path(model.path).rglob("*"))]
    stamps = [
        (os.path.realpath(file), status.st_size, status.st_mtime_ns)
        for file in files
        # Skip this run's own files, which may be in the model's folder.
        if file.suffix not in (".unfinished", ".lock")
        and stat.S_ISREG((status := file.stat()).st_mode)
    ]
    engine = {"engine": model.engine.name, "is_array": form == "npy"}
    return {"flags": flags | engine, "files": stamps}


def draw_attention(config: Config, texts: Sequence[str]) -> int:
    """Writes an HTML page that shows a model's attention in one or two texts.

    Raises:
        ValueError: the number of texts is not 1 or 2.
        FileExistsError: attention.html exists, but this script did not write
            the file.
    """
    if len(texts) not in (1, 2):
        raise ValueError(
            f"attention needs one or two texts. Received: {[*texts]}"
        )
    path = config.output_file or "attention.html"
    # Import late, so that wrong flags do not wait for TensorFlow.
    from serving import attention_page

    if config.output_file is None:
        attention_page.check_may_replace(path)
    found = config.load("saved_model").attention(*texts)
    with atomic_open(path) as writer:
        writer.write(attention_page.render(found))
    logging.info("Open %s in a browser", path)
    return 0


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, Config, takes_arguments=True)


if __name__ == "__main__":
    command()
