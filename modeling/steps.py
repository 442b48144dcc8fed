"""Names of a run's checkpoints. Imports neither Keras nor TensorFlow."""

import re
from collections.abc import Iterable

# Name of the folder in a run's folder that contains the weights of the best
# step.
BEST = "best"
# A checkpoint's name is this prefix, a hyphen and the training step.
PREFIX = "model.ckpt"


def checkpoint_steps(names: Iterable[str]) -> list[int]:
    """Returns the steps of the checkpoints in a folder, in ascending order.

    `names` are the names of all files in the folder.
    """
    found = (
        re.fullmatch(rf"{PREFIX}-(0|[1-9][0-9]*)\.index", name)
        for name in names
    )
    return sorted(int(match[1]) for match in found if match)
