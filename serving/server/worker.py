"""Runs one version of a model in its own process.

TensorFlow never frees a model's graph, so only the end of the process frees the
memory of a version that was replaced. The process that answers HTTP requests
imports neither TensorFlow nor another runtime.
"""

import contextlib
import dataclasses
import math
import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

from files.json_files import read_json
from serving import engines
from serving.models import TextModel
from serving.server.limits import Limits, check_count
from serving.server.protocol import RestError
from serving.server.signatures import (
    Arrays,
    Description,
    Key,
    Signature,
    describe,
    read_signature,
    stack,
)
from serving.tasks.base import Outputs, Request, Row, TaskOptions, TextTask
from training.command_line import chatter

# {name of an exception's class: HTTP status}. Other exceptions get status 400.
_STATUSES = {
    **dict.fromkeys(("ResourceExhaustedError", "MemoryError"), 503),
    **dict.fromkeys(("InternalError", "UnknownError", "DataLossError"), 500),
}


class Version:
    """A loaded model, which runs the calls that the server sends.

    Args:
        path: folder of an export.
        limits: limits on requests, and options of the engine.

    Attributes:
        description: signatures, tasks and engine of the model.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        model = self.model = TextModel(path, **limits.engine_options())
        # The calls below warm up the model, so do not limit their WordPieces.
        self._max_wordpieces = sys.maxsize
        least = limits.min_probability
        # `page` is for requests of the server's web page, `every` for the
        # signature answer_n_best, and `default` for other signatures.
        page = TaskOptions(top_k=8, n_best=8, min_probability=least)
        default = TaskOptions(top_k=10, tokens=True, min_probability=least)
        every = dataclasses.replace(default, n_best=1 << 20)
        self._tasks = {name: model.task(name, page) for name in model.tasks}
        # {signature that accepts text: task that implements it in Python}.
        self._texts: dict[str, TextTask] = {
            name: model.task(task.name, every if "n_best" in name else default)
            for task in self._tasks.values()
            for name in task.signatures
        }
        self._config: dict[str, int] = {}
        for file in path.glob("**/bert_config.json"):
            self._config = read_json(file)
        engine = model.engine
        self._signatures = {
            name: read_signature(function, engine.definitions[name])
            for name, function in getattr(engine, "signatures", {}).items()
        }
        self._ids = {
            name
            for name, (inputs, _) in self._signatures.items()
            if self._config and inputs.keys() == engines.INPUTS.keys()
        }
        if not self._signatures:
            self._ids = {"serve", "serving_default"}
        if model.tasks:
            model.warm_up()
        self._call_all()
        self._max_wordpieces = limits.max_wordpieces
        self.description = Description(
            self._signatures,
            frozenset(self._ids | self._texts.keys() | self._tasks.keys()),
            model.tasks,
            engine.name,
            engine.precision,
        )

    def _call_all(self) -> None:
        """Calls signatures, because the first call of a signature is slow.

        Infers the specs of the signatures in `_ids` and `_texts` that are not
        in the graph of a SavedModel from two calls, and adds the specs to
        `_signatures`.
        """
        texts = np.array([b"a [MASK]", b"a a [MASK] [MASK]"], object)
        for name, (inputs, _) in self._signatures.items():
            if all(each.dtype == "string" for each in inputs.values()):
                self.run(Key(name, ()), [dict.fromkeys(inputs, texts[:1])])
        for name in [*sorted(self._ids), *self._texts]:
            if name in self._signatures:
                continue
            asked: list[Arrays] = []
            for count in (1, 2):
                if name in self._ids:
                    shapes = self.model.engine.inputs.items()
                    arrays = {
                        key: np.zeros(
                            [count, *(size or 4 * count for size in shape[1:])],
                            np.int32,
                        )
                        for key, shape in shapes
                    }
                else:
                    task = self._texts[name]
                    arrays = {
                        key: np.tile(texts[:count], (count, 1))
                        if field in task.lists
                        else texts[:count]
                        for key, field in task.signatures[name].items()
                    }
                asked.append(arrays)
            key = Key(name, ())
            outputs = [self.run(key, [arrays])[0] for arrays in asked]
            self._signatures[name] = Signature(
                describe(name, *asked), describe(name, *outputs)
            )

    def run(self, key: Key, payloads: Sequence[Any]) -> list[Any]:
        """Runs several calls that have the same key.

        Args:
            key: signature or task to call.
            payloads: for each call, the arrays of the signature, with at least
                one row, or the JSON object of the task.

        Returns:
            for each call, the outputs of the signature or the task's reply.

        Raises:
            RestError: a call is invalid, or the model fails on it.
        """
        try:
            if key.shapes is None:
                return self._run_task(key.name, payloads)
            if key.name in self._texts:
                return self._run_texts(key.name, payloads)
            if key.name in self._ids:
                return self._run_ids(key.name, payloads)
            engine = self.model.engine
            return [engine.run_signature(key.name, each) for each in payloads]
        except (ValueError, TypeError, MemoryError) as error:
            cause = type(error.__context__ or error).__name__
            reason = " ".join(str(error).split())[:400]
            if (status := _STATUSES.get(cause, 400)) == 503:
                reason = "out of memory; send fewer or shorter texts"
            raise RestError(reason, status) from None

    def _run_task(self, name: str, requests: Sequence[Request]) -> list[Any]:
        """Returns a task's replies to requests of the server's web page."""
        if name not in self._tasks:
            raise RestError(
                f"no such task. Choose from {', '.join(self._tasks)}", 404
            )
        task = self._tasks[name]
        for request in requests:
            task.check(request)
        signature = next(iter(task.signatures))
        groups = self._compute(signature, task, [[each] for each in requests])
        return [task.reply(row) for rows in groups for row in rows]

    def _run_texts(self, name: str, calls: Sequence[Arrays]) -> list[Outputs]:
        """Runs calls of a signature that accepts text."""
        task = self._texts[name]
        # Decodes each text of an array, and drops bytes that are not UTF-8.
        decode = np.vectorize(lambda x: x.decode("utf-8", "ignore"), [object])
        groups = []
        for arrays in calls:
            columns = {
                field: decode(arrays[key]).tolist()
                for key, field in task.signatures[name].items()
            }
            if "words" in columns:
                columns["words"] = [text.split() for text in columns["words"]]
            rows = zip(*columns.values(), strict=True)
            groups.append([dict(zip(columns, r, strict=True)) for r in rows])
        computed = self._compute(name, task, groups)
        return [stack([*map(task.read_arrays, rows)]) for rows in computed]

    def _compute(
        self, signature: str, task: TextTask, groups: Sequence[list[Request]]
    ) -> list[list[Row]]:
        """Runs a task on the requests of several calls.

        Args:
            signature: name of the signature that is called.
            task: task that implements the signature.
            groups: for each call, a list with one request per text.

        Returns:
            for each call, a list with one Row per request.

        Raises:
            RestError: the texts contain too many WordPieces, or the replies
                would be too large.
        """
        tokenize = self.model.tokenizer.tokenize
        computed, values = [], 0
        for requests in groups:
            texts = [text for each in requests for text in task.texts_of(each)]
            # Count the WordPieces only if there are more characters than
            # --max_wordpieces. Otherwise there cannot be too many WordPieces,
            # because each of them is at least one character.
            if sum(map(len, texts)) > self._max_wordpieces:
                count = sum(len(tokenize(text)) for text in texts)
                check_count("WordPieces", count, self._max_wordpieces)
            own = [task.encode(request) for request in requests]
            sizes = [sum(len(i.ids) for i in each.inputs) for each in own]
            if task.lists:
                check_count("WordPieces", sum(sizes), self._max_wordpieces)
            computed.append(own)
            longest = max([0, *sizes, *(len(each.tokens) for each in own)])
            values += len(own) * self._count_values(signature, longest)
        check_count("values", values)
        self.model.compute(task, [row for own in computed for row in own])
        return computed

    def _run_ids(self, name: str, calls: Sequence[Arrays]) -> list[Outputs]:
        """Runs calls of a signature that accepts WordPiece ids."""
        joined = {
            key: np.concatenate([arrays[key] for arrays in calls])
            for key in calls[0]
        }
        num_rows, *shape = joined["input_ids"].shape
        self._check_ids(joined)
        values = self._count_values(name, shape[-1])
        check_count("values", num_rows * values)
        engine, length = self.model.engine, shape[-1]
        parts = [
            engine.run({k: v[rows] for k, v in joined.items()})
            for rows, _ in engines.cut(
                *(engine, [length] * num_rows, length, True),
                *(max(values // length, 1), math.prod(shape[:-1])),
            )
        ]
        ends = np.cumsum([len(arrays["input_ids"]) for arrays in calls])[:-1]
        split = {
            key: np.split(np.concatenate([part[key] for part in parts]), ends)
            for key in parts[0]
        }
        return [
            {key: arrays[number] for key, arrays in split.items()}
            for number in range(len(calls))
        ]

    def _check_ids(self, arrays: Arrays) -> None:
        """Checks the shapes and values of the network's inputs.

        Raises:
            RestError: the shapes differ, or an id is not in the model's range.
        """
        shapes = {array.shape for array in arrays.values()}
        longest = self._config.get("max_position_embeddings", 1 << 20)
        if len(shapes) > 1 or not 0 < min(shapes)[-1] <= longest:
            raise RestError(
                "input_ids, input_mask and segment_ids must have equal shapes, "
                f"with 1 to {longest} WordPieces. Received: {sorted(shapes)}"
            )
        for name, size in (
            ("input_ids", self._config.get("vocab_size")),
            ("input_mask", 2),
            ("segment_ids", self._config.get("type_vocab_size")),
        ):
            lowest, highest = arrays[name].min(), arrays[name].max()
            if size and (lowest < 0 or highest >= size):
                raise RestError(
                    f"{name} must be from 0 to {size - 1}. Received: {lowest} "
                    f"to {highest}"
                )

    def _count_values(self, signature: str, length: int) -> int:
        """Returns the maximum number of values in the outputs for one row.

        `length` is the row's length in WordPieces.
        """
        found = self._signatures.get(signature, Signature({}, {}))
        return sum(
            math.prod(length if size < 0 else size for size in shape[1:])
            for _, shape, _ in found.outputs.values()
            if shape is not None
        )


def main(file: int) -> None:
    """Loads a model's version and runs the calls that the server sends.

    The process ends when the server closes the pipe. The first message is
    (path of the model, Limits). Each later message is (key, payloads), the
    arguments of `Version.run`. The replies are (result, None) or (None, error).

    Args:
        file: file descriptor of this process's end of the pipe.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        # Ignore signals, because the server ends this process after the last
        # call.
        signal.signal(number, signal.SIG_IGN)
    logging.use_absl_handler()
    chatter.silence_tensorflow()
    with contextlib.suppress(EOFError, ConnectionError):
        connection = Connection(file)
        try:
            version = Version(*connection.recv())
        except Exception as error:
            connection.send((None, ValueError(str(error))))
            return
        connection.send((version.description, None))
        while True:
            key, payloads = connection.recv()
            try:
                connection.send((version.run(key, payloads), None))
            except RestError as error:
                connection.send((None, error))
            except ConnectionError:
                break
            except Exception:
                logging.exception("Failed to compute a request")
                message = "internal error (see the server's log)"
                connection.send((None, RestError(message, 500)))
            # Free the request's memory before waiting for the next request.
            del key, payloads
    # Skip the interpreter's cleanup, because no file or lock needs it.
    os._exit(0)
