"""Finds the variable to which each dataset of KerasHub's files belongs.

The datasets are numbered, not named. The functions return {name in the file:
its `WeightTarget`}.
"""

from typing import NamedTuple

from model_folders.bert_config import BertConfig


class WeightTarget(NamedTuple):
    """The variable to which a dataset belongs.

    Attributes:
        name: Google's name of the variable.
        stored_shape: shape in the file.
        shape: shape in the model.
        is_transposed: whether the two shapes list the axes in opposite orders.
    """

    name: str
    stored_shape: tuple[int, ...]
    shape: tuple[int, ...]
    is_transposed: bool = False


def network_targets(config: BertConfig) -> dict[str, WeightTarget]:
    """Returns {name in the file: its WeightTarget} of an encoder."""
    width = config.hidden_size
    tables = {
        "reversible_embedding": ("word", config.vocab_size),
        "position_embedding": ("position", config.max_position_embeddings),
        "embedding": ("token_type", config.type_vocab_size),
    }
    targets = {}
    for layer, (name, rows) in tables.items():
        target = f"bert/embeddings/{name}_embeddings"
        targets[f"{layer}/vars/0"] = _unchanged_target(target, rows, width)
    targets |= _norm_targets("layer_normalization", "bert/embeddings", width)
    targets |= _dense_targets("dense", "bert/pooler/dense", width, width)
    for index in range(config.num_hidden_layers):
        targets |= _block_targets(config, index)
    return targets


def _block_targets(config: BertConfig, index: int) -> dict[str, WeightTarget]:
    """Returns {name in the file: its WeightTarget} of a block."""
    width = config.hidden_size
    wide = config.intermediate_size
    layer = "transformer_encoder" + (f"_{index}" if index else "")
    scope = f"bert/encoder/layer_{index}"
    feedforward = f"{layer}/_feedforward"
    return {
        **_attention_targets(config, layer, scope),
        **_dense_targets(
            f"{feedforward}_intermediate_dense",
            f"{scope}/intermediate/dense",
            width,
            wide,
        ),
        **_dense_targets(
            f"{feedforward}_output_dense", f"{scope}/output/dense", wide, width
        ),
        **_norm_targets(f"{feedforward}_layer_norm", f"{scope}/output", width),
    }


def _attention_targets(
    config: BertConfig, layer: str, scope: str
) -> dict[str, WeightTarget]:
    """Returns {name in the file: its WeightTarget} of a block's attention.

    The names in the file begin with `layer`, and Google's names with `scope`.
    """
    width = config.hidden_size
    num_heads = config.num_attention_heads
    heads = (num_heads, width // num_heads)
    attention = f"{layer}/_self_attention_layer"
    targets = {}
    for projection in ("query", "key", "value"):
        group = f"{attention}/{projection}_dense/vars"
        name = f"{scope}/attention/self/{projection}"
        targets[f"{group}/0"] = WeightTarget(
            f"{name}/kernel", (width, *heads), (width, width)
        )
        targets[f"{group}/1"] = WeightTarget(f"{name}/bias", heads, (width,))
    group = f"{attention}/output_dense/vars"
    name = f"{scope}/attention/output"
    targets[f"{group}/0"] = WeightTarget(
        f"{name}/dense/kernel", (*heads, width), (width, width)
    )
    targets[f"{group}/1"] = _unchanged_target(f"{name}/dense/bias", width)
    return targets | _norm_targets(f"{attention}_norm", name, width)


def classifier_targets(
    config: BertConfig, num_labels: int
) -> dict[str, WeightTarget]:
    """Returns {name in the file: its WeightTarget} of a classifier's head."""
    width = config.hidden_size
    return {
        "dense/vars/0": WeightTarget(
            "output_weights",
            (width, num_labels),
            (num_labels, width),
            is_transposed=True,
        ),
        "dense/vars/1": _unchanged_target("output_bias", num_labels),
    }


def masked_lm_targets(config: BertConfig) -> dict[str, WeightTarget]:
    """Returns {name in the file: its WeightTarget} of the masked LM head."""
    width = config.hidden_size
    name = "cls/predictions"
    head_path = "masked_lm_head"
    transform = f"{name}/transform"
    return {
        **_dense_targets(
            f"{head_path}/_intermediate_dense",
            f"{transform}/dense",
            width,
            width,
        ),
        **_norm_targets(
            f"{head_path}/_intermediate_layer_norm", transform, width
        ),
        f"{head_path}/vars/0": _unchanged_target(
            f"{name}/output_bias", config.vocab_size
        ),
    }


def _unchanged_target(name: str, *shape: int) -> WeightTarget:
    """Returns the target of a dataset in the shape of its variable."""
    return WeightTarget(name, shape, shape)


def _dense_targets(
    layer: str, name: str, inputs: int, outputs: int
) -> dict[str, WeightTarget]:
    return {
        f"{layer}/vars/0": _unchanged_target(f"{name}/kernel", inputs, outputs),
        f"{layer}/vars/1": _unchanged_target(f"{name}/bias", outputs),
    }


def _norm_targets(
    layer: str, scope: str, width: int
) -> dict[str, WeightTarget]:
    return {
        f"{layer}/vars/0": _unchanged_target(f"{scope}/LayerNorm/gamma", width),
        f"{layer}/vars/1": _unchanged_target(f"{scope}/LayerNorm/beta", width),
    }
