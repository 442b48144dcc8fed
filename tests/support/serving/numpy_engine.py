"""Defines an engine that computes with NumPy, and keeps its batches.

For example:

    engine = NumpyEngine()
    engine.run(pad_batch([PackedInput([7, 8], 2)], 8))
    assert engine.shapes == [(1, 8)]
"""

from collections.abc import Mapping

import numpy as np

from data.arrays import IntArray
from serving import engines


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
            engines.ONNX_NAME_OF_INPUT, (None, fixed_length)
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
