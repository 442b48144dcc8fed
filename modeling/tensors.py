"""Types of tensors, of their shapes, and of what models read and return.

Keras runs on several backends, so `Tensor` lists what the tensors of all
backends have in common. The functions of `keras.ops` accept and return this
type (stubs/keras/ops.pyi).

In shapes, B = batch, T = length in WordPieces, P = masked positions and V =
vocabulary size.
"""

# ruff: noqa: D105  Operators need no docstrings.

from collections.abc import Iterator, Mapping
from types import EllipsisType
from typing import Any, Protocol, TypeAlias, TypedDict, overload

import numpy as np

# What an operator of a tensor accepts: a number, a tensor or an array.
Operand: TypeAlias = "Tensor | float"
# An index of one axis, or None, which adds an axis.
_AxisIndex: TypeAlias = "int | slice | EllipsisType | Tensor | None"
Index: TypeAlias = "_AxisIndex | tuple[_AxisIndex, ...]"
# None if the size varies. `Any`, because a caller that reads the size of one
# axis, such as the hidden size, knows that it does not vary.
_Size: TypeAlias = int | Any


class _Sizes(Protocol):
    """A tuple, or a TensorShape of TensorFlow."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int | None]: ...
    @overload
    def __getitem__(self, index: int, /) -> _Size: ...
    @overload
    def __getitem__(self, index: slice, /) -> "_Sizes": ...


class Tensor(Protocol):
    """A tensor of the backend that Keras runs on, as far as we use it."""

    @property
    def shape(self) -> _Sizes:
        """The sizes of the axes. A size that varies is None."""

    @property
    def dtype(self) -> Any:  # noqa: ANN401  a DType, or a name
        """The type of the elements."""

    def __getitem__(self, index: Index, /) -> "Tensor": ...
    # NumPy's operators accept any object with this method, so an array is a
    # Tensor too.
    def __array__(self) -> np.ndarray: ...
    def __float__(self) -> float: ...
    def __neg__(self) -> "Tensor": ...
    def __add__(self, other: Operand, /) -> "Tensor": ...
    def __radd__(self, other: Operand, /) -> "Tensor": ...
    def __sub__(self, other: Operand, /) -> "Tensor": ...
    def __rsub__(self, other: Operand, /) -> "Tensor": ...
    def __mul__(self, other: Operand, /) -> "Tensor": ...
    def __rmul__(self, other: Operand, /) -> "Tensor": ...
    def __truediv__(self, other: Operand, /) -> "Tensor": ...
    def __floordiv__(self, other: Operand, /) -> "Tensor": ...
    # Of each element. Python's own comparison returns one bool.
    def __eq__(self, other: Operand, /) -> "Tensor": ...  # type: ignore[override]
    def __ne__(self, other: Operand, /) -> "Tensor": ...  # type: ignore[override]
    def __lt__(self, other: Operand, /) -> "Tensor": ...
    def __le__(self, other: Operand, /) -> "Tensor": ...
    def __gt__(self, other: Operand, /) -> "Tensor": ...
    def __ge__(self, other: Operand, /) -> "Tensor": ...


# The shape of a tensor. A size that varies is None.
Shape: TypeAlias = tuple[int | None, ...]
# {name: tensor} of a model's inputs and labels.
Features: TypeAlias = Mapping[str, Tensor]


class PretrainerOutputs(TypedDict):
    """The outputs of `BertPretrainer`.

    Attributes:
        masked_lm_logits: float [B, P, V].
        next_sentence_logits: float [B, 2], class 0 = the next sentence, 1 = a
            random sentence.
    """

    masked_lm_logits: Tensor
    next_sentence_logits: Tensor


class SpanOutputs(TypedDict):
    """The outputs of `BertSpanLabeler`.

    Attributes:
        start_logits: logits of where the answer starts, float [B, T].
        end_logits: logits of where the answer ends, float [B, T].
    """

    start_logits: Tensor
    end_logits: Tensor


# What a model returns: one tensor, or {name: tensor}. A model of your own may
# return any names.
Outputs: TypeAlias = Tensor | PretrainerOutputs | SpanOutputs | Features
