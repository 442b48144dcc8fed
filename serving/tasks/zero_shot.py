"""Labels that a model of natural language inference was not trained on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from serving.requests import to_number
from serving.tasks.base import OneToManyTask, Outputs, Reply, Request, Row
from serving.tasks.texts import to_bytes

_LABEL = "entailment"


def _labels(settings: Mapping[str, Any]) -> list[str]:
    return [label.casefold() for label in settings.get("labels") or ()]


class ZeroShot(OneToManyTask):
    """The label whose sentence the text entails most (Yin et al. 2019)."""

    name = "zero-shot"
    fields = {"text": True, "labels": False}
    lists = ("labels",)
    signatures = {"zero_shot": {"text": "text", "labels": "labels"}}

    @classmethod
    def supports(cls, settings: Mapping[str, Any]) -> bool:
        """Returns whether one of the model's labels is entailment."""
        is_single = settings.get("output_mode") == "classification"
        return is_single and _LABEL in _labels(settings)

    def check(self, request: Request) -> None:
        """Also takes the labels of --labels, and refuses none at all."""
        request.setdefault("labels", self.options.labels)
        super().check(request)
        labels = request["labels"]
        if not 0 < len(labels) == len({*labels}):
            raise ValueError(
                "'labels' must be one label or more, all different; name them "
                f"in the request, or with --labels. Received: {[*labels]}"
            )

    def pairs(self, request: Request) -> list[tuple[str, str]]:
        """Returns the text with the sentence about each label."""
        about = self.options.hypothesis.replace
        return [
            (request["text"], about("{}", label)) for label in request["labels"]
        ]

    def keep(self, encoded: Any, outputs: Outputs) -> Any:
        """Returns the probability of entailment."""
        place = _labels(self.model.settings).index(_LABEL)
        return outputs["probabilities"][place]

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"label", "probabilities"}."""
        probabilities = self.read_arrays(request, row)["probabilities"]
        labels = request["labels"]
        numbers = map(to_number, probabilities)
        entailed = map(to_number, row.outputs)
        return {
            "label": labels[probabilities.argmax()],
            "probabilities": dict(zip(labels, numbers, strict=True)),
            "entailment": dict(zip(labels, entailed, strict=True)),
        }

    def read_arrays(self, request: Request, row: Row) -> Outputs:
        """Returns `probabilities`, 1 in all, and the `label`."""
        entailed = np.array(row.outputs, np.float32)
        total = np.maximum(entailed.sum(), np.finfo(np.float32).tiny)
        probabilities = entailed / total
        best = to_bytes(request["labels"])[[probabilities.argmax()]]
        return {
            "probabilities": probabilities,
            "entailment": entailed,
            "label": best.reshape([]),
        }
