"""The original's names of a model's variables."""

import re
from collections.abc import Collection, Sequence

import keras

# The path may begin with the name of the task model, and with the head's if the
# original has its weights at the top level.
_ORIGINAL_NAME = re.compile(
    r"(?:^|/)(bert/(?:embeddings|encoder|pooler)/.+"
    r"|cls/(?:predictions|seq_relationship|squad)/.+"
    r"|bilstm/.+"
    r"|output_(?:weights|bias))$"
)
# Keras numbers the states of its own layers across the process. None here uses
# them.
_STATE_OF_KERAS = re.compile(r"seed_generator_\d+/")


def original_name(variable: keras.Variable) -> str:
    """Returns the name that a released checkpoint has for `variable`.

    Args:
        variable: `keras.Variable` of any model here.

    Returns:
        e.g. `bert/encoder/layer_0/attention/self/query/kernel`,
        `cls/predictions/output_bias` or, a classifier's, `output_weights`;
        `bilstm/...` for the LSTM that is ours; for variables that BERT does
        not have, `variable.path`.
    """
    match = _ORIGINAL_NAME.search(variable.path)
    return match.group(1) if match else variable.path


def named_variables(model: keras.Model) -> dict[str, keras.Variable]:
    """Returns {original name: variable} of everything in a model.

    The variables include the state of dropout, named by its path in Keras.
    """
    return {
        original_name(variable): variable
        for variable in model.variables
        if not _STATE_OF_KERAS.match(variable.path)
    }


def without_scope(
    names: Collection[str], word_embeddings: re.Pattern[str]
) -> dict[str, str]:
    """Returns {name without the scope: name in the file}.

    Modules of TF Hub, and models that hold a BERT, put one scope, such as
    `module/`, before all its names. If there is another variable of the same
    name outside of the scope, its name gets a `/`.

    Args:
        names: names in the file.
        word_embeddings: pattern of the name of BERT's word embeddings. Its
            first group is the scope.
    """
    scopes = [m[1] or "" for m in map(word_embeddings.fullmatch, names) if m]
    scope = scopes[0] if len(scopes) == 1 else ""
    scoped = {
        name.removeprefix(scope): name
        for name in names
        if name.startswith(scope)
    }
    others = {
        f"/{name}" if name in scoped else name: name
        for name in names
        if not name.startswith(scope)
    }
    return others | scoped


def source_name(name: str, layers: Sequence[int] | None) -> str:
    """Returns the name of a variable's initial value in the checkpoint.

    Args:
        name: original name of a variable.
        layers: for each block of the model, the block of the checkpoint that
            it starts from; None = the same one.
    """
    if layers is None:
        return name
    return re.sub(
        r"/layer_(\d+)/", lambda match: f"/layer_{layers[int(match[1])]}/", name
    )
