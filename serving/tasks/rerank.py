"""Passages in the order of how well they answer a query."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from serving.requests import to_number
from serving.tasks.base import OneToManyTask, Outputs, Reply, Request, Row


class Rerank(OneToManyTask):
    """Ranks passages by a model with one output, a cross-encoder."""

    name = "rerank"
    fields = {"query": True, "passages": True}
    lists = ("passages",)
    signatures = {"rerank": {"query": "query", "passages": "passages"}}

    @classmethod
    def supports(cls, settings: Mapping[str, Any]) -> bool:
        """Returns whether the model gives a pair one number."""
        return settings.get("output_mode") == "regression"

    def keep(self, encoded: Any, outputs: Outputs) -> Any:
        """Returns the score."""
        return outputs["values"]

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"ranking"}: the best first, "index" counts from 0."""
        found = self.read_arrays(request, row)
        order, scores = found["order"].tolist(), found["scores"]
        return {
            "ranking": [
                {"index": index, "score": to_number(scores[index])}
                for index in order
            ]
        }

    def read_arrays(self, request: Request, row: Row) -> Outputs:
        """Returns `scores` of the passages as they came, and their `order`."""
        scores = np.array(row.outputs, np.float32)
        order = np.argsort(-scores, kind="stable").astype(np.int32)
        return {"scores": scores, "order": order}
