"""Types of the arguments that the models' constructors share."""

from typing import TypedDict

from modeling.layers import LayerOptions


class EncoderOptions(TypedDict, total=False):
    """Arguments of `BertModel` that a task model passes on to its encoder."""

    use_one_hot_embeddings: bool
    gradient_checkpointing: bool
    left_to_right: bool
    unpad: bool
    seed: int | None


class TaskModelOptions(EncoderOptions, LayerOptions, total=False):
    """Arguments that every task model accepts besides its own."""

    bilstm: bool


class ModelOptions(TaskModelOptions, total=False):
    """Arguments of any model. Only classifiers accept `num_labels`."""

    num_labels: int
