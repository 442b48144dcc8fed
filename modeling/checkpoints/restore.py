"""Assigns the values of a file to a model's variables, by name."""

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
from absl import logging

from modeling.checkpoints.names import original_name, source_name

# Models for masked words, questions or tags may have no pooler.
_REQUIRED = re.compile(r"bert/(?!pooler/)")
# Parts of BERT that a checkpoint may lack.
_OPTIONAL_PARTS = {
    "bert/pooler/": "pooler",
    "cls/predictions/": "masked LM head",
    "cls/seq_relationship/": "next sentence head",
}
# Entries of the configuration that set the first dimension of a table.
_ROWS = {
    "bert/embeddings/word_embeddings": "vocab_size",
    "bert/embeddings/position_embeddings": "max_position_embeddings",
    "bert/embeddings/token_type_embeddings": "type_vocab_size",
    "output_bias": "the number of labels",
    "output_weights": "the number of labels",
}
_WEIGHT_DTYPES = ("float16", "bfloat16", "float32", "float64")
# Maximum number of new variables that the log names; a complete head has 5.
_MAX_NAMED = 5


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """Report of the variables and entries that were matched.

    Attributes:
        path: the checkpoint that was read.
        loaded: original names of the variables that it gave a value.
        missing: names of the variables that it lacks; they keep their values,
            so a new head starts at random.
        unused: names of the file's entries that the model lacks.
    """

    path: str
    loaded: list[str]
    missing: list[str]
    unused: list[str]


def restore_variables(
    model: keras.Model,
    path: str | os.PathLike[str],
    shapes: Mapping[str, Sequence[int]],
    dtypes: Mapping[str, str],
    read: Callable[[str], Any],
    layers: Sequence[int] | None = None,
) -> LoadReport:
    """Assigns the values of a checkpoint, one variable at a time.

    Nothing is assigned unless everything fits, so each value is read twice;
    holding all of them would double the memory. The encoder must be complete.

    Args:
        model: any model here, built or not, or a built one around them.
        path: the checkpoint, for messages.
        shapes: {original name: shape} of all entries of the file.
        dtypes: {original name: dtype}, e.g. "float32".
        read: (original name) -> array.
        layers: see `load_checkpoint`.

    Returns:
        `LoadReport`.

    Raises:
        ValueError: a variable of the encoder is missing, a shape differs, a
            value is not a finite floating-point number, or two of the model's
            variables have one name.
    """
    if not model.built:
        model.build()
    variables = {original_name(weight): weight for weight in model.weights}
    if len(variables) != len(model.weights):
        raise ValueError(
            f"Two variables of {model.name} have one name in the original, so "
            "a checkpoint cannot tell them apart: load it into each BertModel."
        )
    # {name of a variable: name of its entry in the file}
    sources = {name: source_name(name, layers) for name in variables}
    missing = [name for name in variables if sources[name] not in shapes]
    _check_complete(path, sources, missing, shapes)
    pairs = {
        name: (variable, sources[name])
        for name, variable in variables.items()
        if sources[name] in shapes
    }
    for name, (variable, source) in pairs.items():
        _check_shape(path, name, list(shapes[source]), list(variable.shape))
        if dtypes[source] not in _WEIGHT_DTYPES:
            raise ValueError(
                f"{source} in {path} is of type {dtypes[source]}, and weights "
                f"are one of {', '.join(_WEIGHT_DTYPES)}; save the model as "
                "float32"
            )
    for variable, source in pairs.values():
        _check_values(path, source, read(source), variable.dtype)
    for variable, source in pairs.values():
        variable.assign(read(source))
    _log(path, variables, missing)
    used = {source for _, source in pairs.values()}
    unused = [name for name in shapes if name not in used]
    return LoadReport(str(path), list(pairs), missing, unused)


def _log(
    path: str | os.PathLike[str],
    variables: Mapping[str, keras.Variable],
    missing: Sequence[str],
) -> None:
    new = ", ".join(missing[:_MAX_NAMED])
    if len(missing) > _MAX_NAMED:
        new += ", ..."
    logging.info(
        "%s: %d variables loaded%s",
        path,
        len(variables) - len(missing),
        f"; {len(missing)} new: {new}" if missing else "",
    )
    for prefix, part in _OPTIONAL_PARTS.items():
        if any(name.startswith(prefix) for name in missing):
            logging.warning(
                "%s has no %s: it starts at random values.", path, part
            )
    for name, variable in variables.items():
        mark = "" if name in missing else ", *INIT_FROM_CKPT*"
        logging.debug(
            "  name = %s, shape = %s%s", name, tuple(variable.shape), mark
        )


def _check_complete(
    path: str | os.PathLike[str],
    sources: Mapping[str, str],
    missing: Sequence[str],
    there: Iterable[str],
) -> None:
    """Raises an error if the file lacks encoder variables."""
    lost = [name for name in missing if _REQUIRED.match(name)]
    if lost or len(missing) == len(sources):
        first = sources[(lost or missing)[0]]
        names = ", ".join([*there][:_MAX_NAMED]) or "nothing"
        raise ValueError(
            f"{path} lacks {len(missing)} of the model's {len(sources)} "
            f"variables, such as {first}. It has {names}: is it a BERT "
            "checkpoint, and does the configuration belong to it?"
        )


def _check_shape(
    path: str | os.PathLike[str], name: str, there: list[int], here: list[int]
) -> None:
    if there == here:
        return
    remedy = "the configuration does not belong to this checkpoint"
    if name in _ROWS and there[1:] == here[1:]:
        remedy = f"{_ROWS[name]} is {there[0]} there and {here[0]} here"
        if _ROWS[name] == "vocab_size" and there[0] < here[0]:
            remedy += (
                "; tools.convert_checkpoint --extended_vocab_file adds rows "
                "for new words"
            )
    raise ValueError(
        f"{name} has shape {there} in {path}, but {here} in the model: {remedy}"
    )


def _check_values(
    path: str | os.PathLike[str], name: str, value: Any, dtype: str
) -> None:
    """Raises an error if values are not finite in a variable's dtype."""
    is_finite = keras.ops.isfinite(keras.ops.cast(value, dtype))
    if keras.ops.all(is_finite):
        return
    is_finite = keras.ops.convert_to_numpy(is_finite)
    index = tuple(int(i) for i in np.argwhere(~is_finite)[0])
    raise ValueError(
        f"{name} in {path} is {float(value[index])} at {list(index)}, and "
        f"weights must be finite {dtype} numbers; its training went wrong or "
        "the file is damaged: use another checkpoint"
    )
