"""Tasks that pair one text with each of several passages or labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from serving.tasks.base import (
    Outputs,
    Reply,
    Request,
    Row,
    TextTask,
    check_text,
    to_number,
    to_numbers,
)
from serving.tasks.texts import to_bytes

_LABEL = "entailment"


def _labels(settings: Mapping[str, Any]) -> list[str]:
    return [label.casefold() for label in settings.get("labels") or ()]


class OneToManyTask(TextTask):
    """Base class of tasks that pair one text with each text of a list.

    The first of the `fields` is the text, and the second is the list.
    """

    repeats = True

    def check(self, request: Request) -> None:
        """Checks a request, whose second field must be a list of strings."""
        one, many = self.fields
        texts = request.get(many, [])
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise ValueError(
                f"{many!r} must be a list of strings. "
                f"Received: {repr(texts)[:80]}"
            )
        super().check({**request, **({many: ""} if many in request else {})})
        for text in texts:
            check_text(many, text)

    def pairs(self, request: Request) -> list[tuple[str, str]]:
        """Returns a pair (text, item) for each item of the list."""
        one, many = self.fields
        return [(request[one], text) for text in request.get(many, [])]

    def texts_of(self, request: Request) -> list[str]:
        """Returns the texts of all `pairs`, in one list."""
        return [text for pair in self.pairs(request) for text in pair]

    def encode(self, request: Request) -> Row:
        """Returns a Row with one input for each pair of texts.

        `num_cut` is the largest number of WordPieces cut from a pair, and
        `tokens` are the WordPieces of the longest pair.
        """
        most, cut = self.model.max_seq_length, self.model.tokenizer
        packed = [
            self.pack(request, *(cut.tokenize_beginning(t, most) for t in pair))
            for pair in self.pairs(request)
        ]
        return Row(
            request,
            [each for one in packed for each in one.inputs],
            max((one.tokens for one in packed), key=len, default=[]),
            max((one.num_cut for one in packed), default=0),
        )


class Rerank(OneToManyTask):
    """Ranks passages with a cross-encoder, a model with one output."""

    name = "rerank"
    fields = {"query": True, "passages": True}
    lists = ("passages",)
    signatures = {"rerank": {"query": "query", "passages": "passages"}}

    @classmethod
    def supports(cls, settings: Mapping[str, Any]) -> bool:
        """Returns whether the model is a regression model."""
        return settings.get("output_mode") == "regression"

    def keep(self, encoded: Any, outputs: Outputs) -> Any:
        """Returns the score of a passage, which is the model's only output."""
        return outputs["values"]

    def read(self, row: Row) -> Reply:
        """Returns {"ranking": list of {"index", "score"}}, best passage first.

        "index" is the position of the passage in the request.
        """
        found = self.read_arrays(row)
        order, scores = found["order"].tolist(), found["scores"]
        return {
            "ranking": [
                {"index": index, "score": to_number(scores[index])}
                for index in order
            ]
        }

    def read_arrays(self, row: Row) -> Outputs:
        """Returns `scores`, and `order`: passage indices, best first."""
        scores = np.array(row.outputs, np.float32)
        order = np.argsort(-scores, kind="stable").astype(np.int32)
        return {"scores": scores, "order": order}


class ZeroShot(OneToManyTask):
    """Chooses a label by zero-shot classification (Yin et al. 2019).

    The task writes a sentence about each label, and chooses the label with the
    sentence that the text most probably entails.
    """

    name = "zero-shot"
    flags = ("labels", "hypothesis")
    fields = {"text": True, "labels": False}
    lists = ("labels",)
    signatures = {"zero_shot": {"text": "text", "labels": "labels"}}

    @classmethod
    def supports(cls, settings: Mapping[str, Any]) -> bool:
        """Returns True for single-label models with the label "entailment"."""
        is_single = settings.get("output_mode") == "classification"
        return is_single and _LABEL in _labels(settings)

    def check(self, request: Request) -> None:
        """Checks a request. Adds --labels to a request without labels."""
        request.setdefault("labels", self.options.labels)
        super().check(request)
        labels = request["labels"]
        if not 0 < len(labels) == len({*labels}):
            raise ValueError(
                "'labels' must be one or more different labels; name them in "
                f"the request or with --labels. Received: {[*labels]}"
            )

    def pairs(self, request: Request) -> list[tuple[str, str]]:
        """Returns a pair (text, sentence about the label) for each label."""
        about = self.options.hypothesis.replace
        return [
            (request["text"], about("{}", label)) for label in request["labels"]
        ]

    def keep(self, encoded: Any, outputs: Outputs) -> Any:
        """Returns the probability that the text entails a label's sentence."""
        place = _labels(self.model.settings).index(_LABEL)
        return outputs["probabilities"][place]

    def read(self, row: Row) -> Reply:
        """Returns the dict that `TextModel.zero_shot` describes."""
        probabilities = self.read_arrays(row)["probabilities"]
        labels = row.request["labels"]
        numbers = to_numbers(probabilities)
        entailed = to_numbers(row.outputs)
        return {
            "label": labels[probabilities.argmax()],
            "probabilities": dict(zip(labels, numbers, strict=True)),
            "entailment": dict(zip(labels, entailed, strict=True)),
        }

    def read_arrays(self, row: Row) -> Outputs:
        """Converts a Row to the outputs of the signature `zero_shot`."""
        entailed = np.array(row.outputs, np.float32)
        total = np.maximum(entailed.sum(), np.finfo(np.float32).tiny)
        probabilities = entailed / total
        best = to_bytes(row.request["labels"])[[probabilities.argmax()]]
        return {
            "probabilities": probabilities,
            "entailment": entailed,
            "label": best.reshape([]),
        }
