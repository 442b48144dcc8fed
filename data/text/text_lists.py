"""Converts lists, arrays and tensors of texts to lists of str."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias


class HasToList(Protocol):
    """An array of NumPy, or a column of pandas."""

    def tolist(self) -> Any:  # noqa: ANN401  a list, or the value of a scalar
        """Returns the values as a list of Python's objects."""


class HasNumpy(Protocol):
    """A tensor of TensorFlow, which has a value outside of graphs."""

    def numpy(self) -> Any:  # noqa: ANN401  an array, or the bytes of a scalar
        """Returns the values as an array, or the bytes of a scalar."""


# A text or several: str or UTF-8 as bytes, in a list, an array or a tensor.
TextsLike: TypeAlias = (
    str | bytes | Sequence[str | bytes] | HasToList | HasNumpy
)


def to_list(texts: TextsLike) -> list[str]:
    """Returns the texts of a list, an array or a tensor. One text is a list.

    Bytes that are not UTF-8 are dropped.

    Raises:
        TypeError: a text is not a string, or a tensor has no value yet.
    """
    if hasattr(texts, "numpy"):
        # A tensor of TensorFlow, whose strings are bytes.
        texts = texts.numpy()
    if hasattr(texts, "tolist"):
        # An array of NumPy, or a column of pandas.
        texts = texts.tolist()
    if isinstance(texts, (str, bytes)):
        texts = [texts]
    # A tensor in a graph is no Sequence.
    if not isinstance(texts, Sequence):
        raise TypeError(_describe_wrong_texts(texts))
    return [_to_str(text) for text in texts]


def _to_str(text: object) -> str:
    if isinstance(text, bytes):
        return text.decode("utf-8", "ignore")
    if not isinstance(text, str):
        raise TypeError(_describe_wrong_texts(text))
    return text


def _describe_wrong_texts(value: object) -> str:
    type_name = type(value).__name__
    advice = ""
    if isinstance(value, Sequence):
        advice = ". Pass pairs as two lists: the first and the second texts"
    elif hasattr(value, "dtype") or hasattr(value, "element_spec"):
        advice = (
            ". In tf.data and in a graph, use "
            "data.text.BertTextClassifierPreprocessor(tokenizer)"
        )
    return (
        "texts must be strings, in a list, an array or a tensor that has a "
        f"value; received {type_name}: {value!r:.80}{advice}"
    )
