"""Converts the names of a model's variables to the names in checkpoints."""

import re

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


def google_name_of(variable: keras.Variable) -> str:
    """Returns the name of a variable in Google's checkpoints.

    Args:
        variable: variable of any model of this package.

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
        google_name_of(variable): variable
        for variable in model.variables
        if not _STATE_OF_KERAS.match(variable.path)
    }
