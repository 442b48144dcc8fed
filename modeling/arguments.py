"""Types of the keyword arguments that layers and models share.

A constructor that passes such arguments on declares, for example,
`**arguments: Unpack[LayerArguments]`.
"""

from typing import TypedDict

import keras


class LayerArguments(TypedDict, total=False):
    """Arguments of `keras.layers.Layer` that our layers and models accept."""

    name: str | None
    dtype: str | keras.DTypePolicy | None
    trainable: bool


class EncoderArguments(TypedDict, total=False):
    """Arguments of `BertModel` that a task model passes on to its encoder."""

    use_one_hot_embeddings: bool
    gradient_checkpointing: bool
    left_to_right: bool
    trim_padding: bool
    seed: int | None


class TaskModelArguments(EncoderArguments, LayerArguments, total=False):
    """Arguments that every task model accepts besides its own."""

    bilstm: bool


class ModelArguments(TaskModelArguments, total=False):
    """Arguments of any model. Only classifiers accept `num_labels`."""

    num_labels: int
