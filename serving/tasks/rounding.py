"""Converts what a task decodes to plain Python, which JSON can contain."""

import math

import numpy as np

from serving.engines import EngineError


def round_numbers(value: object) -> object:
    """Converts a part of a reply to plain Python, with 6 significant digits.

    Raises:
        EngineError: a number is NaN or infinite.
    """
    if isinstance(value, dict):
        return {name: round_numbers(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        if value.ndim == 1 and np.isfinite(value).all():
            # Twice as fast as number by number.
            return [_round(element) for element in value.tolist()]
        value = value.tolist()
    if isinstance(value, list):
        return [*map(round_numbers, value)]
    if not isinstance(value, float | np.floating):
        return value
    if not math.isfinite(value):
        raise EngineError(
            f"the model returned {value}, which is not a finite number; check "
            "the model's weights and precision"
        )
    return _round(value)


def _round(value: float | np.floating) -> float:
    return float(f"{value:.6g}")
