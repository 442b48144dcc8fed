"""The original's names of a model's variables."""

import re

# Everything in front is the task model's own name (or a user's model around
# it), and in case of a head of one linear layer that head's.
_ORIGINAL_NAME = re.compile(
    r"(?:^|/)(bert/(?:embeddings|encoder|pooler)/.+"
    r"|cls/(?:predictions|seq_relationship|squad)/.+"
    r"|output_(?:weights|bias))$"
)


def original_name(variable):
    """Returns the name that a released checkpoint has for `variable`.

    Args:
        variable: `keras.Variable` of any model here.

    Returns:
        e.g. `bert/encoder/layer_0/attention/self/query/kernel`,
        `cls/predictions/output_bias` or, a classifier's, `output_weights`;
        for variables that BERT does not have, `variable.path`.
    """
    found = _ORIGINAL_NAME.search(variable.path)
    return found.group(1) if found else variable.path
