"""Applies an exported model to lines of text, from the command line or a pipe.

Reads JSON objects, one a line, and writes one for each:

    fill-mask      {"text": "The [MASK] is blue."}  -> {"masks": [[{"token": ..
    next-sentence  {"text_a": "..", "text_b": ".."} -> {"probability": ..}
    classify       {"text_a": ".."}, text_b if any  -> {"label": .., ..}
    answer         {"question": "..", "context": ".."} -> {"answer": .., ..}
    tag            {"text": ".."} or {"words": [..]}   -> {"words": .., ..}
    embed          {"text": ".."}          -> {"mean_normalized": [..], ..}
    rerank         {"query": "..", "passages": [..]} -> {"ranking": [..]}
    score          {"text": ".."}                      -> {"score": .., ..}
    zero-shot      {"text": "..", "labels": [..]}    -> {"label": .., ..}
    tokenize       {"text_a": ".."}, text_b if any  -> {"tokens": .., ..}
    attention      {"text_a": ".."}, text_b if any  -> {"attention": .., ..}

`classify`, `tokenize` and `attention` take {"text": ".."} too. An "id" is
copied to the answer. A line that cannot be answered gives {"line", "error"},
and the exit status is then 1.

    python predict.py --model=DIR "a text" ["a second one"]
    python predict.py attention --model=DIR "a text" ["a second one"]

answer the texts of the command, and draw attention as a page to open in a
browser.
"""

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any

from absl import logging

from files.atomic import atomic_open
from files.flags import flag
from files.json_files import format_json
from files.paths import Kind
from serving.engines import EngineConfig
from training.command_line import cli

if TYPE_CHECKING:
    from serving import TextModel, requests
    from serving.tasks import base

# Exit status by which shells report a broken pipe (SIGPIPE).
_BROKEN_PIPE = 141


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(EngineConfig):
    """The model, the requests and the answers."""

    model: str = flag(
        ...,
        "Folder of an export, as --export_dir writes it, or of its numbered "
        "versions; the newest is used. Only a SavedModel needs TensorFlow. A "
        "SavedModel is a program: see --allow_any_operation.",
        kind=Kind.MODEL,
    )
    task: str | None = flag(
        None,
        "Task to run; by default the first one that the model supports.",
        choices=[
            *("fill-mask", "next-sentence", "classify"),
            *("answer", "tag", "embed", "rerank", "score", "zero-shot"),
            *("tokenize", "attention"),
        ],
    )
    input_file: str | None = flag(
        None,
        "Requests to read; by default standard input.",
        kind=Kind.INPUT_FILE,
    )
    input_format: str = flag(
        "jsonl",
        "jsonl: one JSON object per line. csv: a table whose first row names "
        "the columns like the keys of such an object.",
        choices=["jsonl", "csv"],
    )
    output_file: str | None = flag(
        None,
        "JSON lines to write; by default standard output. For `attention`: "
        "the HTML page to write, by default attention.html.",
        kind=Kind.OUTPUT_FILE,
    )
    batch_size: int = flag(
        32,
        "Maximum lines in a batch; a batch does not wait to be full.",
        at_least=1,
    )
    strict: bool = flag(
        False, "Stop at the first line that cannot be answered."
    )
    keep_going: bool = flag(
        False, "Exit with status 0 even if some lines could not be answered."
    )
    top_k: int = flag(
        5,
        "fill-mask: WordPieces for each mask.",
        at_least=1,
    )
    n_best: int = flag(1, "answer: maximum answers per question.", at_least=1)
    tokens: bool = flag(
        False,
        "embed: also write each WordPiece and its vector; score: each "
        "WordPiece and its log probability.",
    )
    labels: Sequence[str] = flag(
        (), "zero-shot: labels to choose from, if a request names none."
    )
    hypothesis: str = flag(
        "This example is {}.",
        "zero-shot: sentence about a label, which replaces {}.",
    )

    def load(self, default: str | None = None) -> "TextModel":
        """Loads the model; see serving.load.

        Args:
            default: the engine without --engine; None = chosen.
        """
        # Flags are checked before the seconds that TensorFlow may take to load.
        import serving

        return serving.load(
            self.model,
            self.allow_any_operation,
            self.num_threads,
            self.engine or default,
        )


def write_answers(
    task: "base.TextTask",
    batches: Iterable[list["requests.Numbered"]],
    write: Callable[[list[dict[str, Any]]], None],
    strict: bool = False,
) -> tuple[int, int]:
    """Answers requests in their order, with an error for each bad one.

    Args:
        task: answers lists of requests.
        batches: what requests.read_batches yields.
        write: takes the answers to one batch.
        strict: whether to stop at the first line that cannot be answered.

    Returns:
        (number of lines with an answer, number of lines without).

    Raises:
        ValueError: a line has no answer, with `strict`.
    """
    num_answers = num_errors = 0
    for batch in batches:
        good: dict[int, dict[str, Any]] = {}
        found: dict[int, dict[str, Any]] = {}
        reasons: dict[int, str] = {}
        for number, item in batch:
            try:
                good[number] = check_request(task, item)
            except ValueError as error:
                reasons[number] = str(error)
        for number, row in compute_each(task, good, reasons).items():
            try:
                found[number] = task.reply(good[number], row)
            except ValueError as error:
                reasons[number] = str(error)
        answers: list[dict[str, Any]] = []
        for number, item in batch:
            request_id = {}
            if isinstance(item, dict) and _can_write(item.get("id")):
                request_id = {"id": item["id"]} if "id" in item else {}
            answer = found.get(number, {})
            try:
                if number in reasons:
                    raise ValueError(reasons[number])
                format_json(answer, "the answer")
                num_answers += 1
            except ValueError as error:
                if strict:
                    write(answers)
                    raise ValueError(f"line {number}: {error}") from None
                logging.warning("line %d: %s", number, error)
                answer = {"line": number, "error": str(error)}
                num_errors += 1
            answers.append(request_id | answer)
        write(answers)
    return num_answers, num_errors


def compute_each(
    task: "base.TextTask",
    requests: dict[int, dict[str, Any]],
    reasons: dict[int, str],
) -> dict[int, "base.Row"]:
    """Returns what the model computes for requests, by their numbers.

    If it fails on them together, they are tried one by one; `reasons` gets why
    it fails on one.
    """
    try:
        rows = task.compute([*requests.values()])
    except ValueError as error:
        if len(requests) > 1:
            found: dict[int, base.Row] = {}
            for each in requests.items():
                found |= compute_each(task, dict([each]), reasons)
            return found
        reasons |= dict.fromkeys(requests, str(error))
        return {}
    return dict(zip(requests, rows, strict=True))


def check_request(
    task: "base.TextTask", item: dict[str, Any] | ValueError
) -> dict[str, Any]:
    """Returns a request.

    Raises:
        ValueError: it could not be read, or cannot be answered.
    """
    if isinstance(item, ValueError):
        raise item
    if not _can_write(item.get("id")):
        raise ValueError("'id' is nested too deeply")
    task.check(item)
    return item


def to_request(task: "base.TextTask", texts: Sequence[str]) -> dict[str, Any]:
    """Returns the request of a command's texts, one for each field in order.

    Of a task whose last field is a list, it has the remaining texts.

    Raises:
        ValueError: there are too few or too many, or one cannot be answered.
    """
    if task.lists and len(texts) > 1:
        return check_request(
            task,
            dict(zip(task.fields, (texts[0], [*texts[1:]]), strict=True)),
        )
    if not sum(task.fields.values()) <= len(texts) <= len(task.fields):
        raise ValueError(
            f"{task.name} takes {', '.join(task.fields)} as texts in this "
            f"order, each in quotes. Received: {[*texts]}"
        )
    return check_request(task, dict(zip(task.fields, texts, strict=False)))


def _can_write(request_id: object) -> bool:
    try:
        # In an answer it is nested one level deeper.
        json.dumps([request_id])
    except RecursionError:
        return False
    return True


def main(config: Config, arguments: Sequence[str]) -> int:
    """Loads the model, then answers line after line, or the arguments."""
    if arguments[:1] == ["attention"]:
        return draw_attention(config, arguments[1:])
    if arguments and config.input_file:
        raise ValueError(
            f"--input_file={config.input_file} and the texts {[*arguments]} "
            "are both to be answered; leave one out"
        )
    from serving import requests
    from serving.tasks.base import TaskOptions

    # Not sys.stdin, which could not be closed while a thread waits for it.
    reader = open(
        config.input_file or sys.stdin.fileno(),
        "rb",
        closefd=bool(config.input_file),
    )
    options = TaskOptions(
        config.top_k,
        config.tokens,
        config.n_best,
        config.labels,
        config.hypothesis,
    )
    model = config.load()
    task = model.task(config.task, options)
    logging.info("%s: ready to %s", config.model, task.name)
    read = {"jsonl": requests.read_json_lines, "csv": requests.read_csv}
    numbered: Iterable[requests.Numbered] = read[config.input_format](reader)
    if arguments:
        numbered = [(1, to_request(task, arguments))]
    batches = requests.read_batches(
        numbered, config.input_file or "standard input", config.batch_size
    )

    def write_to(writer: IO[bytes]) -> tuple[int, int]:
        def write(answers: list[dict[str, Any]]) -> None:
            writer.write(requests.to_json_lines(answers))
            writer.flush()

        return write_answers(task, batches, write, config.strict)

    try:
        if config.output_file:
            with atomic_open(config.output_file) as writer:
                num_answers, num_errors = write_to(writer)
        else:
            num_answers, num_errors = write_to(sys.stdout.buffer)
    except BrokenPipeError:
        # The reader closed the pipe; leave nothing to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    logging.info("%d lines answered, %d could not be", num_answers, num_errors)
    return int(num_errors > 0 and not config.keep_going)


def draw_attention(config: Config, texts: Sequence[str]) -> int:
    """Writes the page of `predict.py attention "a text" ["a second one"]`.

    Raises:
        ValueError: there is no text, or there are more than two.
        FileExistsError: the file exists and was not written by this script.
    """
    if len(texts) not in (1, 2):
        raise ValueError(
            f'attention takes "a text" ["a second one"]. Received: {[*texts]}'
        )
    path = config.output_file or "attention.html"
    # Flags are checked before the seconds that TensorFlow takes to load.
    from serving import attention_page

    if config.output_file is None:
        attention_page.check_may_replace(path)
    found = config.load("saved_model").attention(*texts)
    with atomic_open(path) as writer:
        writer.write(attention_page.render(found))
    logging.info("%s: open it in a browser", path)
    return 0


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, Config, takes_arguments=True)


if __name__ == "__main__":
    command()
