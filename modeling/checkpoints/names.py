"""Converts the names of a model's variables to the names in checkpoints."""

import re
from collections.abc import Collection, Sequence

import keras

# Matches Google's name at the end of a variable's path in Keras. Before
# Google's name, the path may contain the name of the task model, then the name
# of a head. Google's names of some heads' weights have no scope.
_ORIGINAL_NAME = re.compile(
    r"(?:^|/)(bert/(?:embeddings|encoder|pooler)/.+"
    r"|cls/(?:predictions|seq_relationship|squad)/.+"
    r"|bilstm/.+"
    r"|output_(?:weights|bias))$"
)
# Matches seed generators that Keras's own layers create. No model of this
# package uses these generators. Their names vary, because Keras numbers them in
# the order in which a process creates them.
_STATE_OF_KERAS = re.compile(r"seed_generator_\d+/")


def original_name(variable: keras.Variable) -> str:
    """Returns the name of a variable in Google's checkpoints.

    Args:
        variable: `keras.Variable` of any model of this package.

    Returns:
        for example `bert/encoder/layer_0/attention/self/query/kernel`,
        `cls/predictions/output_bias` or, for a classifier, `output_weights`.
        For the LSTM that this project adds, `bilstm/...`. For other variables
        that Google's BERT lacks, `variable.path`.
    """
    match = _ORIGINAL_NAME.search(variable.path)
    return match.group(1) if match else variable.path


def named_variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Returns {Google's name: variable} of all variables in a model.

    The variables include the state of the dropout's seed generator, under its
    path in Keras.
    """
    return {
        original_name(variable): variable
        for variable in model.variables
        if not _STATE_OF_KERAS.match(variable.path)
    }


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


def printable(name: str) -> str:
    """Returns a name in a file for a message of one line."""
    return name if name.isprintable() else repr(name)


def source_name(name: str, layers: Sequence[int] | None) -> str:
    """Returns the name of the checkpoint's entry that a variable starts from.

    Args:
        name: Google's name of the variable.
        layers: for each block of the model, the number of the checkpoint's
            block to start from. None = the block with the same number.
    """
    if layers is None:
        return name
    return re.sub(
        r"/layer_(\d+)/", lambda match: f"/layer_{layers[int(match[1])]}/", name
    )
