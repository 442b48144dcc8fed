"""The entries of files of weights, and their names."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

POOLER = "bert/pooler/dense"
# Name of a pooler that belongs to the head for next sentences, where the
# encoder has a pooler of its own. Google's BERT has one pooler for both.
NEXT_SENTENCE_POOLER = "cls/seq_relationship/pooler/dense"

# The values of a weight. Any, because the file states the type of its numbers.
WeightArray: TypeAlias = NDArray[Any]


class WeightEntry(NamedTuple):
    """An entry of a file, which readers convert to the shape of a variable.

    Attributes:
        shape: shape of the value that `read` returns.
        dtype: name of the value's type, such as "float32".
        read: function that reads the value.
        num_heads: number of attention heads that the shape in the file shows,
            None if it shows none.
    """

    shape: Sequence[int]
    dtype: str
    read: Callable[[], WeightArray]
    num_heads: int | None = None


def transposed(entry: WeightEntry) -> WeightEntry:
    """Returns an entry whose value is the transpose of the value of `entry`."""
    return WeightEntry(entry.shape[::-1], entry.dtype, lambda: entry.read().T)


def without_scope(
    names: Collection[str], word_embeddings: re.Pattern[str]
) -> dict[str, str]:
    """Returns {name without the scope of BERT: name in the file}.

    In modules of TF Hub, and in models that contain a BERT, the names of BERT's
    variables begin with a scope, such as `module/`. The function removes this
    scope, and omits a variable outside of the scope that already has the
    shorter name.

    Args:
        names: names in the file.
        word_embeddings: pattern of the name of BERT's word embeddings. Its
            first group is the scope.
    """
    matches = map(word_embeddings.fullmatch, names)
    scopes = [match[1] or "" for match in matches if match]
    scope = scopes[0] if len(scopes) == 1 else ""
    inside = [name for name in names if name.startswith(scope)]
    outside = [name for name in names if not name.startswith(scope)]
    scopeless = {name.removeprefix(scope): name for name in inside}
    return {name: name for name in outside} | scopeless


def printable_name(name: str) -> str:
    """Returns a name in a file for a message of one line."""
    return name if name.isprintable() else repr(name)


def entry_name_of(name: str, initial_blocks: Sequence[int] | None) -> str:
    """Returns the name of the checkpoint's entry that a variable starts from.

    Args:
        name: Google's name of the variable.
        initial_blocks: the stored block from which each block starts.
    """
    if initial_blocks is None:
        return name
    return re.sub(
        r"/layer_(\d+)/",
        lambda match: f"/layer_{initial_blocks[int(match[1])]}/",
        name,
    )
