"""Checks the names and shapes in a checkpoint, before a model is created.

`check_shapes` compares them with the sizes in a configuration. Creating a model
may need much memory, so it is created only if the two agree.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from files.paths import StrPath
from model_folders.bert_config import BertConfig
from model_folders.formats.weight_entries import entry_name_of, printable_name

_NORM_WEIGHTS = {
    "LayerNorm/gamma": ("hidden_size",),
    "LayerNorm/beta": ("hidden_size",),
}


def _dense_weights(
    name: str, inputs: str, outputs: str
) -> dict[str, tuple[str, ...]]:
    return {f"{name}/kernel": (inputs, outputs), f"{name}/bias": (outputs,)}


# {Google's name without its scope: entries of the configuration that are the
# shape}, first of the weights that precede the blocks, then of the weights of a
# block.
_SIZES_OF_EMBEDDING_WEIGHT: Mapping[str, tuple[str, ...]] = {
    "word_embeddings": ("vocab_size", "hidden_size"),
    "position_embeddings": ("max_position_embeddings", "hidden_size"),
    "token_type_embeddings": ("type_vocab_size", "hidden_size"),
    **_NORM_WEIGHTS,
}
_SIZES_OF_BLOCK_WEIGHT: Mapping[str, tuple[str, ...]] = {
    **_dense_weights("attention/self/query", "hidden_size", "hidden_size"),
    **_dense_weights("attention/self/key", "hidden_size", "hidden_size"),
    **_dense_weights("attention/self/value", "hidden_size", "hidden_size"),
    **_dense_weights("attention/output/dense", "hidden_size", "hidden_size"),
    **_dense_weights("intermediate/dense", "hidden_size", "intermediate_size"),
    **_dense_weights("output/dense", "intermediate_size", "hidden_size"),
    **{
        f"attention/output/{name}": size for name, size in _NORM_WEIGHTS.items()
    },
    **{f"output/{name}": size for name, size in _NORM_WEIGHTS.items()},
}


def encoder_shapes(num_blocks: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields (Google's name, entries of the configuration that are its shape).

    Yields the weights that every checkpoint of a BERT contains, in order. The
    pooler may be missing.
    """
    for name, entries in _SIZES_OF_EMBEDDING_WEIGHT.items():
        yield f"bert/embeddings/{name}", entries
    for block in range(num_blocks):
        for name, entries in _SIZES_OF_BLOCK_WEIGHT.items():
            yield f"bert/encoder/layer_{block}/{name}", entries


def check_initial_blocks(
    config: BertConfig, initial_blocks: Sequence[int]
) -> None:
    """Checks that `initial_blocks` lists a block for each block of a model.

    Raises:
        ValueError: the length of `initial_blocks` is not the number of blocks.
    """
    if len(initial_blocks) != config.num_hidden_layers:
        raise ValueError(
            "`initial_blocks` must list one block of the checkpoint for each "
            f"of the model's {config.num_hidden_layers} blocks. "
            f"Received: {list(initial_blocks)}"
        )


def check_shapes(
    path: StrPath,
    shapes: Mapping[str, Sequence[int]],
    config: BertConfig,
    *,
    initial_blocks: Sequence[int] | None = None,
    config_file: str | None = None,
) -> None:
    """Checks that a checkpoint contains the encoder of a configuration.

    Args:
        path: path of the checkpoint, for messages.
        shapes: {Google's name: shape} of its entries.
        config: configuration of the model that will load the checkpoint.
        initial_blocks: the stored block from which each block starts.
        config_file: path of the configuration, for messages.

    Raises:
        ValueError: a weight is missing or has another shape, or the number of
            heads does not divide the hidden size. The message names the first
            such weight.
    """
    if initial_blocks is not None:
        check_initial_blocks(config, initial_blocks)
    config_source = config_file or "the configuration"
    if config.hidden_size % config.num_attention_heads:
        raise ValueError(
            f"{config_source} states hidden_size={config.hidden_size}, which "
            "must be a multiple of "
            f"num_attention_heads={config.num_attention_heads}. "
            f"Correct it for {path}"
        )
    for name, entries in encoder_shapes(config.num_hidden_layers):
        entry_name = entry_name_of(name, initial_blocks)
        shape = [getattr(config, entry) for entry in entries]
        file_shape = shapes.get(entry_name)
        if file_shape is None:
            # The configuration may state more blocks than the file contains.
            depth = ("num_hidden_layers",) if "/layer_" in name else ()
            sizes = _format_entries(config, (*depth, *entries))
            raise ValueError(
                f"{path} lacks {entry_name} with shape {shape} ({sizes} in "
                f"{config_source}). {describe_other_entries(shapes, config)}"
            )
        if list(file_shape) != shape:
            sizes = _format_entries(config, entries)
            raise ValueError(
                f"{entry_name} has shape {list(file_shape)} in {path}, but "
                f"{shape} in the model ({sizes} in {config_source}). Correct "
                "the configuration"
            )


def _format_entries(config: BertConfig, names: Iterable[str]) -> str:
    """Returns the entries that a user may have to correct, each once."""
    return ", ".join(
        f"{name}={getattr(config, name)}" for name in dict.fromkeys(names)
    )


def describe_other_entries(
    shapes: Mapping[str, Sequence[int]], config: BertConfig
) -> str:
    """Returns a sentence that names entries which no BERT contains."""
    # A configuration may state more blocks than there are names.
    num_blocks = min(config.num_hidden_layers, len(shapes))
    expected = {name for name, _ in encoder_shapes(num_blocks)}
    return describe_entries(name for name in shapes if name not in expected)


def describe_entries(names: Iterator[str]) -> str:
    """Returns a sentence that names some entries of a file, in one line."""
    first_names = map(printable_name, itertools.islice(names, 5))
    return f"The file contains {', '.join(first_names) or 'no other entries'}"
