"""Writes predict.py's answers, and continues the output of killed runs.

A killed run leaves its answers in OUTPUT.unfinished. The same command, started
again, continues this file.
"""

import contextlib
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from absl import logging

from files import locks
from files.atomic import atomic_open
from files.json_files import parse_json
from files.paths import named_errors
from files.progress import Progress
from serving.requests import Item, check
from serving.tasks.base import Reply, Request, TextTask

# Maximum number of errors that are logged. The output contains all errors.
_MAX_LOGGED = 10
# Each `.unfinished` file begins with these bytes, which identify it.
_BEGIN = b'{"unfinished": '

Batches = Iterator[Sequence[Item]]


class Answerer:
    """Answers batches of requests, and counts the answers.

    Args:
        task: task that answers the requests.
        strict: True to stop at the first request that cannot be answered.
        select: function (reply) -> reply with only the fields to write.

    Attributes:
        num_answers: number of requests with an answer.
        num_errors: number of requests with an error instead.
    """

    def __init__(
        self,
        task: TextTask,
        strict: bool = False,
        select: Callable[[Reply], Reply] = dict,
    ) -> None:
        self._task = task
        self._strict = strict
        self._select = select
        self.num_answers = self.num_errors = 0

    def answer(self, batch: Sequence[Item]) -> Iterator[bytes]:
        """Yields the answer or the error for each request, as a line of JSON.

        Raises:
            ValueError: `strict` is True and a request cannot be answered, or
                `select` fails.
        """
        batch = [check(self._task, item) for item in batch]
        good = [item.request for item in batch if not item.error]
        replies = iter(self._reply(good))
        for item in batch:
            reply = item.error or next(replies)
            line: dict[str, Any] = {}
            if "id" in item.request:
                line = {"id": item.request["id"]}
            if isinstance(reply, dict):
                self.num_answers += 1
                yield to_json_line(line | self._select(reply))
                continue
            if self._strict:
                raise ValueError(f"{item}: {reply}")
            self.num_errors += 1
            if self.num_errors <= _MAX_LOGGED:
                logging.warning("%s: %s", item, reply)
            if self.num_errors == _MAX_LOGGED:
                logging.warning(
                    "No more errors are logged. The output contains all errors"
                )
            line |= {"file": item.file} if item.file else {}
            yield to_json_line(line | {"line": item.line, "error": str(reply)})

    def _reply(self, requests: list[Request]) -> list[Reply | ValueError]:
        """Returns a reply or a ValueError for each request.

        If the model fails on the batch, runs it on each request separately.
        """
        rows = _attempt(self._task.compute, requests)
        if not isinstance(rows, ValueError):
            return [_attempt(self._task.reply, row) for row in rows]
        if len(requests) == 1:
            return [rows]
        return [reply for each in requests for reply in self._reply([each])]

    def count(self, line: Reply) -> None:
        """Counts one answer or error that an earlier run wrote.

        Raises:
            ValueError: `select` fails on the answer.
        """
        if "error" in line:
            self.num_errors += 1
        else:
            self.num_answers += 1
            self._select(line)


def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the result of a function, or the ValueError that it raises."""
    try:
        return function(*arguments)
    except ValueError as error:
        return error


def to_json_line(answer: Mapping[str, Any]) -> bytes:
    """Returns a dict as a line of JSON in UTF-8."""
    try:
        return json.dumps(answer, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        # UTF-8 cannot encode a lone surrogate, which an id may contain. Without
        # ensure_ascii=False, json.dumps escapes it.
        return json.dumps(answer).encode() + b"\n"


@contextlib.contextmanager
def open_unfinished(
    path: str | None, settings: Mapping[str, Any] | None
) -> Iterator[IO[bytes]]:
    """Opens the file of answers that a killed run left, or a new file.

    Args:
        path: path of the output, or None for standard output. The opened file
            is `path` with `.unfinished` appended, after following symbolic
            links.
        settings: all values that the answers depend on, or None if a killed run
            cannot be continued. If the file contains answers for different
            settings, the answers are deleted.

    Yields:
        a file, positioned at its first answer. If `path` or `settings` is None,
        it is an unnamed temporary file. Copy the answers to the output in the
        `with` block, because the file is deleted when the block ends or raises
        a ValueError. After any other exception the file stays, so that the next
        run can continue it.

    Raises:
        OSError: another process is writing the same output, or another program
            wrote a file with the name of the unfinished file.
    """
    if path is None or settings is None:
        folder = tempfile.gettempdir()
        with named_errors(folder), tempfile.TemporaryFile() as file:
            yield file
        return
    unfinished = f"{os.path.realpath(path)}.unfinished"
    header = _BEGIN + json.dumps(settings).encode() + b"}\n"
    with locks.hold(f"{unfinished}.lock", f"--output_file={path}"):
        with named_errors(unfinished), open(unfinished, "a+b") as file:
            file.seek(0)
            found = file.readline()
            if found and not found.startswith(_BEGIN):
                raise FileExistsError(
                    f"{unfinished} is not a file that predict.py wrote, but "
                    "predict.py needs this name; move or rename the file"
                )
            if found != header:
                if found:
                    logging.warning(
                        "%s was written with different flags, or for a "
                        "different input or model: starting at the first row",
                        unfinished,
                    )
                file.truncate(0)
                file.write(header)
            try:
                yield file
            except ValueError:
                os.remove(unfinished)
                raise
        os.remove(unfinished)


def write_rows(
    file: IO[bytes],
    answerer: Answerer,
    batches: Batches,
    num_rows: int | None,
) -> None:
    """Appends missing answers to a file, and shows a progress bar.

    Args:
        file: file that `open_unfinished` yields. If it ends inside a batch, the
            answers to this batch are replaced.
        answerer: Answerer that answers the batches, and counts all answers.
        batches: all batches of requests.
        num_rows: number of rows in all batches, or None if unknown.
    """
    for batch in batches:
        start = file.tell()
        try:
            # [:-1] removes the newline. An incomplete line loses its last
            # character, so it is not valid JSON. After a power failure, a line
            # may also contain NUL bytes.
            lines = [parse_json(file.readline()[:-1], "") for _ in batch]
        except ValueError:
            file.truncate(start)
            batches = itertools.chain([batch], batches)
            break
        for line in lines:
            answerer.count(line)
    done = answerer.num_answers + answerer.num_errors
    if done:
        logging.info("An earlier run has answered %d rows", done)
    with Progress(num_rows, done, "row", 1, "Predicting") as progress:
        for batch in batches:
            file.writelines(answerer.answer(batch))
            # Flush, so that another run can continue if this run is killed.
            file.flush()
            done += len(batch)
            if progress.due(done):
                progress.update(done)


def write_stream(
    path: str | None, answerer: Answerer, batches: Batches
) -> None:
    """Writes answers to a pipe or a device, batch by batch.

    Args:
        path: path of the pipe or device, or None for standard output.
        answerer: Answerer that answers the batches.
        batches: all batches of requests.
    """
    stdout = contextlib.nullcontext(sys.stdout.buffer)
    opened = atomic_open(path) if path else stdout
    with named_errors(path or "standard output"), opened as file:
        for batch in batches:
            file.writelines(answerer.answer(batch))
            file.flush()
