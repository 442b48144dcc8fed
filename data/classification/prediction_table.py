"""Writes a table of predictions: the columns of the input, then the answers."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from data.classification.decoding import LabelDecoder
from data.classification.features import InputExample
from files.atomic import atomic_open
from files.paths import StrPath


def write(
    path: StrPath,
    examples: Sequence[InputExample],
    outputs: np.ndarray,
    decoder: LabelDecoder,
) -> None:
    """Writes a CSV with a row for each example, in the order of the input.

    The columns are the input's, then `label`, `probability` and `correct`. In
    regression, they are the input's and `value`. If the input has a column of
    that name, the new one begins with `predicted_`. An empty text has no label,
    and `correct` is empty if the right label is unknown.

    `outputs` are float [examples, labels], as in `LabelDecoder.predictions`.
    """
    columns = [*(examples[0].row or {})]
    is_number = decoder.output_mode == "regression"
    answers = ["value"] if is_number else ["label", "probability", "correct"]
    names = [f"predicted_{x}" if x in columns else x for x in answers]
    with atomic_open(path) as file:
        # UTF-8 cannot encode a lone surrogate, which JSON may contain.
        text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
        writer = csv.writer(text)
        writer.writerow([*columns, *names])
        probabilities = decoder.probabilities(outputs).max(-1).tolist()
        labels = decoder.labels(outputs)
        for example, label, probability in zip(
            examples, labels, probabilities, strict=True
        ):
            answer = [_text(label)]
            if not is_number:
                right = example.label
                if isinstance(right, list):
                    right = sorted(right, key=decoder.label_list.index)
                is_right = "" if right is None else str(label == right)
                answer += [f"{probability:.6f}", is_right.lower()]
            if not example.text_a.strip() and not example.text_b:
                answer = [""] * len(names)
            cells = map((example.row or {}).get, columns)
            writer.writerow([*map(_text, cells), *answer])
        text.detach()


def _text(cell: Any) -> str:
    if isinstance(cell, list):
        return ",".join(map(str, cell))
    return "" if cell is None else str(cell)
