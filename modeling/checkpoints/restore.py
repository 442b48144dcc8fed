"""Giving a model's variables the values that a file has under their names."""

import dataclasses
import re

from absl import logging

from modeling.checkpoints.names import original_name

# Models for masked words, questions or tags may have no pooler.
_REQUIRED = re.compile(r"bert/(?!pooler/)")
# Which entry of the configuration the first dimension of a table comes from.
_ROWS = {
    "bert/embeddings/word_embeddings": "vocab_size",
    "bert/embeddings/position_embeddings": "max_position_embeddings",
    "bert/embeddings/token_type_embeddings": "type_vocab_size",
    "output_bias": "the number of labels",
    "output_weights": "the number of labels",
}


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """What became of a model's variables and of a checkpoint's entries.

    Attributes:
        path: the checkpoint that was read.
        loaded: original names of the variables that it gave a value.
        missing: names of the variables that it does not have; they keep
            their values, so a new head starts from its random ones.
        unused: its names that the model does not have.
    """

    path: str
    loaded: list[str]
    missing: list[str]
    unused: list[str]


def restore_variables(model, path, shapes, read):
    """Assigns the values of a checkpoint, one variable at a time.

    Nothing is assigned unless everything fits. The encoder must be there.

    Args:
        model: any model here, built or not, or a built one around them.
        path: the checkpoint, for messages.
        shapes: dict from original name to shape, all that the file holds.
        read: function from such a name to its array.

    Returns:
        `LoadReport`.

    Raises:
        ValueError: a variable of the encoder is missing, a shape differs,
            or two of the model's variables have one name.
    """
    if not model.built:
        model.build()
    variables = {original_name(weight): weight for weight in model.weights}
    if len(variables) != len(model.weights):
        raise ValueError(
            f"Two variables of {model.name} have one name in the original, so "
            "a checkpoint cannot tell them apart: load it into each BertModel."
        )
    missing = [name for name in variables if name not in shapes]
    lost = [name for name in missing if _REQUIRED.match(name)]
    if lost or len(missing) == len(variables):
        first = (lost or missing)[0]
        raise ValueError(
            f"{path} lacks {len(missing)} of the model's "
            f"{len(variables)} variables, such as {first}: is it "
            "a BERT checkpoint, and does the configuration belong to it?"
        )
    for name, variable in variables.items():
        if name in shapes:
            _check_shape(path, name, list(shapes[name]), list(variable.shape))

    logging.info("**** Variables, from %s ****", path)
    for name, variable in variables.items():
        mark = "" if name in missing else ", *INIT_FROM_CKPT*"
        logging.info(
            "  name = %s, shape = %s%s", name, tuple(variable.shape), mark
        )
        if name in shapes:
            variable.assign(read(name))
    if any(name.startswith("bert/pooler/") for name in missing):
        logging.warning("%s has no pooler: it starts at random values.", path)
    return LoadReport(
        path=path,
        loaded=[name for name in variables if name in shapes],
        missing=missing,
        unused=[name for name in shapes if name not in variables],
    )


def _check_shape(path, name, there, here):
    if there == here:
        return
    remedy = "the configuration does not belong to this checkpoint"
    if name in _ROWS and there[1:] == here[1:]:
        remedy = f"{_ROWS[name]} is {there[0]} there and {here[0]} here"
    raise ValueError(
        f"{name} has shape {there} in {path}, but {here} in the model: {remedy}"
    )
