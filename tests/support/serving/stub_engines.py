"""Stand-ins for a network: an engine of NumPy, and a task that needs none.

For example:

    engine = NumpyEngine()
    engine.run(pad_batch([NetworkInput([7, 8], 2)], 8))
    assert engine.shapes == [(1, 8)]

    loaded_export = create_export_stub(lambda inputs, limits: [{0: []}])
    ask(loaded_export, PARSE_NUMBER_TASK, [{"text": "1.5"}])
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from data.arrays import IntArray
from exporting import export_formats
from serving import engines
from serving.text_tasks import text_task
from serving.text_tasks.request_fields import RequestField


class NumpyEngine(engines.Engine):
    """Outputs the sum of the ids of each input, `ids_sum`, float32 [B].

    Args:
        fixed_length: length of all inputs, None if it varies.
        needs_single_rows: see `Engine`.

    Attributes:
        batches: input_ids of each batch, in the order of the calls.
    """

    name = "onnx"

    def __init__(
        self,
        fixed_length: int | None = None,
        *,
        needs_single_rows: bool = False,
    ) -> None:
        inputs: engines.InputShapes = dict.fromkeys(
            export_formats.ONNX_NAME_OF_INPUT, (None, fixed_length)
        )
        super().__init__(inputs, needs_single_rows=needs_single_rows)
        self.batches: list[IntArray] = []

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shape [B, F] of each batch."""
        return [ids.shape for ids in self.batches]

    def _compute(
        self, features: Mapping[str, IntArray]
    ) -> engines.OutputArrays:
        ids = features["input_ids"]
        self.batches.append(ids)
        return {"ids_sum": ids.sum(-1).astype(np.float32)}


# Returns the number in a text.
PARSE_NUMBER_TASK = text_task.TextTask(
    "score",
    lambda loaded_export, request: text_task.EncodedRequest(
        [], request["text"]
    ),
    lambda loaded_export, text, *_: {"score": float(text)},
    [RequestField("text")],
)


def create_export_stub(run_all: Callable[..., Any]) -> SimpleNamespace:
    """Returns a LoadedExport for the task, which computes with a function."""
    engine = SimpleNamespace(run_all=run_all)
    return SimpleNamespace(
        engine=engine, max_seq_length=8, batch_limits=lambda _: None
    )
