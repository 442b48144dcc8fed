"""Exported models in Python: texts in, plain lists and dicts out.

    bert = serving.load("output/mrpc_model")
    bert.classify(["The boat left at noon."], ["At noon the boat left."])

predict.py, serve.py and its page use the same classes (text_tasks.py).
"""

import copy
import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging
from google.protobuf.message import DecodeError

from files import patterns
from modeling.accelerated import inference
from serving import operations
from serving.requests import Texts, as_texts, listed
from serving.text_tasks import (
    DEFAULTS,
    TASKS,
    Request,
    Row,
    TaskOptions,
    TextTask,
)


class TextModel:
    """An exported model that takes text.

    Each method takes one text and returns one dict, or takes a list of texts
    and returns a list of dicts; all of plain Python, as predict.py writes them.
    Positions in texts count characters, except `start_byte` and `end_byte`.

    Args:
        path: folder of a SavedModel.
        allow_any_operation: also load a model whose operations may do more
            than compute; see operations.py.

    Attributes:
        definitions: {name: SignatureDef} of its signatures.

    Raises:
        OSError: it cannot be loaded.
        TypeError: from every method: what is not a text, nor a list of texts.
        ValueError: it uses an operation that is not allowed. From every method:
            the model does not support the task, or a text cannot be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], allow_any_operation: bool = False
    ) -> None:
        self.path = os.fspath(path)
        try:
            saved, used = operations.find(
                Path(path, "saved_model.pb").read_bytes()
            )
        except DecodeError as error:
            raise self._damaged(str(error)) from error
        operations.check(used, self.path, allow_any_operation)
        with patterns.literal_name(self.path) as name:
            try:
                self.saved_model = tf.saved_model.load(name)
            except Exception as error:
                # TensorFlow may raise any exception for a damaged file.
                reason = str(error).replace(name, self.path)
                raise self._damaged(reason) from error
        # Copies, because a message keeps the whole file in memory.
        self.definitions = {
            name: copy.deepcopy(definition)
            for name, definition in saved.meta_graphs[0].signature_def.items()
            if not name.startswith("__")
        }
        self._kinds = {
            kind.name: kind
            for kind in TASKS
            if kind.signature in self.saved_model.signatures
        }

    def _damaged(self, reason: str) -> OSError:
        return OSError(
            f"{self.path} cannot be loaded; export the model again, or copy it "
            f"again: {reason}"
        )

    def call(
        self, signature: str, inputs: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        """Returns a signature's outputs, strings as bytes.

        Args:
            signature: its name.
            inputs: {name: array, or list of texts}.
        """
        function = self.saved_model.signatures[signature]
        specs = function.structured_input_signature[1]
        outputs = function(
            **{k: tf.constant(v, specs[k].dtype) for k, v in inputs.items()}
        )
        return {name: value.numpy() for name, value in outputs.items()}

    def compute(self, task: TextTask, requests: Sequence[Request]) -> list[Row]:
        """Returns the outputs that a task reads, for each request.

        Raises:
            ValueError: the model fails on them.
        """
        groups: dict[str, list[int]] = {}
        for index, request in enumerate(requests):
            groups.setdefault(task.signature_of(request), []).append(index)
        rows: dict[int, Row] = {}
        for signature, indices in groups.items():
            texts = [task.texts_of(requests[index]) for index in indices]
            columns = zip(*texts, strict=True)
            try:
                outputs = self.call(
                    signature, dict(zip(task.fields, columns, strict=True))
                )
                if task.cuts:
                    outputs["num_wordpieces_cut"] = self._count_cut(
                        [task.pair_of(requests[index]) for index in indices]
                    )
            except (tf.errors.OpError, MemoryError) as error:
                # Mostly for lack of memory.
                reason = " ".join(str(error).split())[:200] or "out of memory"
                raise ValueError(
                    f"the model cannot take it: {reason}"
                ) from None
            for row, index in enumerate(indices):
                rows[index] = {name: outputs[name][row] for name in outputs}
        return [rows[index] for index in range(len(requests))]

    def _count_cut(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Returns how many WordPieces of each pair the model does not read."""
        cut = np.zeros(len(pairs), int)
        if "tokenize" not in self.saved_model.signatures:
            return cut
        # A WordPiece has at least one byte. [CLS] and two [SEP] are added.
        most = self._max_seq_length - 3
        longer = [
            index
            for index, pair in enumerate(pairs)
            if len("".join(pair).encode()) > most
        ]
        # A few at a time, because their tokens are padded to the longest.
        for begin in range(0, len(longer), 256):
            some = longer[begin : begin + 256]
            texts = zip(*(pairs[index] for index in some), strict=True)
            read = self.call(
                "tokenize", dict(zip(("text_a", "text_b"), texts, strict=True))
            )
            num_special = 1 + (read["tokens"] == b"[SEP]").sum(1)
            cut[some] = read["num_wordpieces"] + num_special - read["lengths"]
        return cut

    @functools.cached_property
    def _max_seq_length(self) -> int:
        # Each of these is a WordPiece; no model reads as many.
        read = self.call("tokenize", {"text_a": ["." * 10_000], "text_b": [""]})
        return int(read["lengths"][0])

    @property
    def computes_in_bfloat16(self) -> bool:
        """Whether products of the network are in bfloat16."""
        name = next(iter(self._kinds.values())).signature
        graph = self.saved_model.signatures[name].graph.as_graph_def()
        return any(
            node.op == "MatMul" and node.attr["T"].type == tf.bfloat16
            for function in graph.library.function
            for node in function.node_def
        )

    def pack_weights(self) -> None:
        """Reorders weights once instead of at each product, where that pays.

        For processes that only predict, before the first answer: TensorFlow
        then assumes that no model's weights change any more.
        """
        if self._kinds and self.computes_in_bfloat16:
            inference.pack_weights("bfloat16")

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that the model supports, its main task first."""
        return [*self._kinds]

    def task(
        self, name: str | None = None, options: TaskOptions = DEFAULTS
    ) -> TextTask:
        """Returns one of its tasks.

        Args:
            name: as `tasks` lists it; None for the first.
            options: how much of an answer to give.

        Raises:
            ValueError: it does not support that task, or none.
        """
        if not self._kinds:
            raise ValueError(
                f"{self.path} takes no text: its signatures are "
                f"{listed(self.saved_model.signatures)}; export it with "
                "--vocab_file"
            )
        if name not in (None, *self._kinds):
            raise ValueError(
                f"{self.path} does not {name}; it does {listed(self._kinds)}"
            )
        kind = self._kinds[name or self.tasks[0]]
        return kind(self, options)

    def classify(self, text_a: Texts, text_b: Texts = "") -> Any:
        """Returns {"label", "probabilities"}, or {"value"} in regression."""
        return self._ask("classify", text_a=text_a, text_b=text_b)

    def answer(self, question: Texts, context: Texts, n_best: int = 1) -> Any:
        """Returns {"answer", "probability", "start", "end", ...}.

        Args:
            question: one or several.
            context: one passage for all, or one for each.
            n_best: above 1, "n_best" lists that many answers.
        """
        options = TaskOptions(n_best=n_best)
        return self._ask("answer", options, question=question, context=context)

    def tag(self, text: Texts) -> Any:
        """Returns {"words", "tags", "spans", "entities"}."""
        return self._ask("tag", text=text)

    def fill_mask(self, text: Texts, top_k: int = 5) -> Any:
        """Returns {"masks"}: for each [MASK] the WordPieces that fit."""
        return self._ask("fill-mask", TaskOptions(top_k=top_k), text=text)

    def next_sentence(self, text_a: Texts, text_b: Texts) -> Any:
        """Returns {"probability"} that the second text follows the first."""
        return self._ask("next-sentence", text_a=text_a, text_b=text_b)

    def embed(self, text: Texts, tokens: bool = False) -> Any:
        """Returns {"pooled", "mean"}, vectors.

        Args:
            text: one or several.
            tokens: also return "tokens" and "sequence", their vectors.
        """
        return self._ask("embed", TaskOptions(tokens=tokens), text=text)

    def tokenize(self, text_a: Texts, text_b: Texts = "") -> Any:
        """Returns {"tokens", "num_wordpieces"}; longer texts are cut."""
        return self._ask("tokenize", text_a=text_a, text_b=text_b)

    def attention(self, text_a: Texts, text_b: Texts = "") -> Any:
        """Returns {"tokens", "attention"}.

        attention[block][head][i][j] is how much token i attends to token j.
        """
        return self._ask("attention", text_a=text_a, text_b=text_b)

    def _ask(
        self, name: str, options: TaskOptions = DEFAULTS, **fields: Texts
    ) -> Any:
        """Returns a task's answers."""
        task = self.task(name, options)
        fields = {k: as_texts(k, texts) for k, texts in fields.items()}
        counts = {
            field: len(texts)
            for field, texts in fields.items()
            if not isinstance(texts, str)
        }
        if len({*counts.values()}) > 1:
            raise ValueError(
                "give as many of each, or one text for all. Received: "
                + ", ".join(f"{n} {field}" for field, n in counts.items())
            )
        requests = [
            {
                field: texts if field not in counts else texts[row]
                for field, texts in fields.items()
            }
            for row in range(next(iter(counts.values()), 1))
        ]
        for request in requests:
            task.check(request)
        try:
            replies = task.answer(requests)
        except ValueError as error:
            # `answer` itself numbers the texts of longer lists.
            where = "text 1: " if counts and len(requests) == 1 else ""
            raise ValueError(f"{where}{error}") from None
        return replies if counts else replies[0]


def load(
    path: str | os.PathLike[str], allow_any_operation: bool = False
) -> TextModel:
    """Loads an exported model.

    Args:
        path: folder of a SavedModel, or one with numbered versions of it, of
            which it takes the newest, as TensorFlow Serving does.
        allow_any_operation: also load a model that uses operations which
            exports of this project do not. They may read and write any file.

    Raises:
        FileNotFoundError: there is no SavedModel.
        OSError: it is damaged.
        ValueError: it uses an operation that is not allowed.
    """
    versions = find_versions(path)
    if not versions:
        raise FileNotFoundError(
            f"{os.fspath(path)} is not a SavedModel: it has no saved_model.pb "
            "and no numbered version; give a folder that --export_dir wrote"
        )
    newest = max(versions)
    if versions[newest] != Path(path):
        logging.info("%s: version %s is the newest", path, newest)
    return TextModel(versions[newest], allow_any_operation)


def find_versions(path: str | os.PathLike[str]) -> dict[int, Path]:
    """Returns {version: folder} of the SavedModels in a folder.

    A SavedModel that is not in a numbered folder is version 1.
    """
    folder = Path(path)
    if _is_saved_model(folder):
        return {1: folder}
    return {
        int(inner.name): inner
        for inner in (folder.iterdir() if folder.is_dir() else ())
        if re.fullmatch("[0-9]{1,18}", inner.name) and _is_saved_model(inner)
    }


def _is_saved_model(path: Path) -> bool:
    return (path / "saved_model.pb").is_file()
