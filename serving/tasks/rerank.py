"""The task that ranks passages by how well they match a query."""

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
)


class Rerank(TextTask):
    """Ranks passages with a cross-encoder, a model with one output."""

    name = "rerank"
    fields = {"query": True, "passages": True}
    lists = ("passages",)

    @classmethod
    def supports(cls, settings: Mapping[str, Any]) -> bool:
        """Returns whether the model is a regression model of pairs."""
        is_single = settings.get("num_texts") == 1
        return settings.get("output_mode") == "regression" and not is_single

    def check(self, request: Request) -> None:
        """Checks a request. The passages must be a list of strings."""
        texts = request.get("passages", [])
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise ValueError(
                "'passages' must be a list of strings. "
                f"Received: {repr(texts)[:80]}"
            )
        is_set = "passages" in request
        super().check(request | ({"passages": ""} if is_set else {}))
        for text in texts:
            check_text("passages", text)

    def encode(self, request: Request) -> Row:
        """Returns a Row with one input for each pair of query and passage.

        `num_cut` is the largest number of WordPieces cut from a pair, and
        `tokens` are the WordPieces of the longest pair.
        """
        most, cut = self.model.max_seq_length, self.model.tokenizer
        query = cut.tokenize_beginning(request["query"], most)
        packed = [
            self.pack(request, query, cut.tokenize_beginning(text, most))
            for text in request["passages"]
        ]
        return Row(
            request,
            [each for one in packed for each in one.inputs],
            max((one.tokens for one in packed), key=len, default=[]),
            max((one.num_cut for one in packed), default=0),
        )

    def keep(self, encoded: Any, outputs: Outputs) -> Any:
        """Returns the score of a passage, which is the model's only output."""
        return outputs["values"]

    def read(self, row: Row) -> Reply:
        """Returns {"ranking": list of {"index", "score"}}, best passage first.

        "index" is the position of the passage in the request.
        """
        scores = np.array(row.outputs, np.float32)
        return {
            "ranking": [
                {"index": index, "score": to_number(scores[index])}
                for index in np.argsort(-scores, kind="stable").tolist()
            ]
        }
