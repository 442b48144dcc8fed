"""Rounds the numbers of replies, so that JSON shows no digits of noise."""

import math

from serving.engines import EngineError


def round_numbers(value: object) -> object:
    """Rounds the floats in a part of a reply to 6 significant digits.

    Args:
        value: plain Python, which JSON can contain.

    Returns:
        the same value with rounded floats. Lists and dicts are new objects.

    Raises:
        EngineError: a number is NaN or infinite.
    """
    # Most values are the numbers of vectors.
    if isinstance(value, float):
        return _round_number(value)
    if isinstance(value, list):
        return [*map(round_numbers, value)]
    if isinstance(value, dict):
        return {name: round_numbers(entry) for name, entry in value.items()}
    return value


def _round_number(number: float) -> float:
    if not math.isfinite(number):
        raise EngineError(
            f"the model returned {number}, which is not a finite number; check "
            "the model's weights and precision"
        )
    return float(f"{number:.6g}")
