"""The steps of extract_features.py: from its flags to the vectors of tokens.

Call `read_model_files`, `parse_layers`, `create_predictor` and `write_vectors`
in this order.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

import modeling
from data.arrays import FloatArray
from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    convert_single_example,
)
from data.io import text_files
from data.text import token_windows, tokenization, tokenizer_loading
from execution.device_flags import POLICY_OF_PRECISION
from execution.extract_features_config import ExtractFeaturesConfig
from execution.model_flags import find_missing_flags
from files.atomic import atomic_open
from files.json_files import JsonObject
from model_folders.reading import presets
from model_folders.reading.settings_check import check_lengths

if TYPE_CHECKING:
    import tensorflow as tf

    from execution.batch_predictor import BatchPredictor


def read_model_files(
    config: ExtractFeaturesConfig,
    set_by_user: frozenset[str],
    preset: presets.Preset,
) -> tuple["modeling.BertConfig", tokenization.FullTokenizer]:
    """Reads the configuration and the vocabulary.

    Args:
        config: the flags. The files in the folder of the weights set those that
            the user left out.
        set_by_user: names of the flags that the user set.
        preset: Preset of the weights.

    Raises:
        ValueError: a flag is not set, or contradicts a file.
        OSError: a file cannot be read.
    """
    paths = {
        "bert_config_file": config.model.bert_config_file,
        "vocab_file": config.model.vocab_file,
    }
    if missing := find_missing_flags(paths, preset):
        names = ", ".join(f"--{name}" for name in missing)
        raise ValueError(f"missing required flags: {names}")
    config_file = config.model.required_config_file
    bert_config = modeling.load_config(config_file)
    check_lengths(
        bert_config, config_file, max_seq_length=config.max_seq_length
    )
    tokenizer = tokenizer_loading.load_tokenizer(
        config.model.required_vocab_file,
        config.model.do_lower_case,
        is_set_by_user="do_lower_case" in set_by_user,
        vocab_size=bert_config.vocab_size,
        preset=preset,
    )
    return bert_config, tokenizer


def parse_layers(value: str, num_blocks: int) -> list[int]:
    """Returns the numbers in --layers: the first block is 0, the last is -1.

    Raises:
        ValueError: the value is not a list of the model's blocks.
    """
    try:
        layers = [int(layer) for layer in value.split(",")]
    except ValueError:
        layers = []
    if not layers or not all(
        -num_blocks <= layer < num_blocks for layer in layers
    ):
        raise ValueError(
            f"--layers={value} must be numbers from -{num_blocks} to "
            f"{num_blocks - 1}, because the model has {num_blocks} blocks"
        )
    return layers


def create_predictor(
    config: ExtractFeaturesConfig,
    bert_config: "modeling.BertConfig",
    preset: presets.Preset,
) -> "BatchPredictor":
    """Loads the encoder that computes the vectors."""
    # Import late, so that --help and errors in flags do not wait until
    # TensorFlow is loaded.
    import keras

    # They import TensorFlow too.
    from execution import devices
    from execution.batch_predictor import BatchPredictor

    modeling.find_checkpoint(preset, config=bert_config)
    strategy = devices.connect_devices(config.devices)
    keras.config.set_dtype_policy(
        POLICY_OF_PRECISION[config.devices.mixed_precision]
    )
    with strategy.scope():
        model = modeling.BertModel(
            bert_config,
            use_one_hot_embeddings=config.use_one_hot_embeddings,
            left_to_right=preset.network["left_to_right"],
        )
        model.build()
    modeling.load_checkpoint(model, preset)
    return BatchPredictor(model, jit_compile=config.devices.jit_compile)


def read_examples(input_file: str) -> Iterator[InputExample]:
    """Yields an InputExample for each line of a text file.

    A line contains one text, or two texts separated by ` ||| `.
    """
    for index, line in enumerate(text_files.read_corpus_lines(input_file)):
        line = line.strip()
        pair = re.match(r"^(.*) \|\|\| (.*)$", line)
        text_a, text_b = pair.groups() if pair else (line, None)
        yield InputExample(index, text_a, text_b)


def create_batches(
    examples: Iterable[InputExample],
    tokenizer: tokenization.FullTokenizer,
    max_seq_length: int,
    batch_size: int,
    trims_padding: bool,
) -> Iterator[dict[str, "tf.Tensor"]]:
    """Yields the features of examples in batches.

    Args:
        examples: texts, or pairs of texts.
        tokenizer: tokenizer of the model.
        max_seq_length: number of WordPieces to which examples are cut or
            padded.
        batch_size: number of examples in a batch, B.
        trims_padding: whether to remove the padding that all examples of a
            batch have in common. Then T is the length of the longest example,
            otherwise `max_seq_length`.

    Yields:
        input_ids, input_mask and segment_ids, int32 [B, T].
    """
    # Import late, so that --help does not wait until TensorFlow is loaded.
    import tensorflow as tf

    # It imports TensorFlow too.
    from data.padding import trim_padding

    converted = (
        convert_single_example(index, example, None, max_seq_length, tokenizer)
        for index, example in enumerate(examples)
    )
    counted = token_windows.log_num_cut(
        converted,
        lambda features: features.is_cut,
        f"texts were cut at --max_seq_length={max_seq_length}",
    )
    while batch := [*itertools.islice(counted, batch_size)]:
        columns = {
            "input_ids": [row.input_ids for row in batch],
            "input_mask": [row.input_mask for row in batch],
            "segment_ids": [row.segment_ids for row in batch],
        }
        features = {
            name: tf.constant(rows, tf.int32) for name, rows in columns.items()
        }
        yield trim_padding(features) if trims_padding else features


def format_features(
    line_index: int,
    tokens: Sequence[str],
    layers: Sequence[int],
    vectors: Sequence[FloatArray],
) -> JsonObject:
    """Returns the line of --output_file for a text, as Google's script does.

    Args:
        line_index: index of the text's line in --input_file.
        tokens: N WordPieces of the text.
        layers: indices of L blocks.
        vectors: outputs of the blocks, L arrays, float [N, W].
    """
    # Round in double precision, because JSON would show a rounded float32 as
    # 0.10000000149011612.
    rounded = np.round(np.asarray(vectors, np.float64), 6)
    vectors_of_tokens = rounded.swapaxes(0, 1)  # [L, N, W] -> [N, L, W]
    features = []
    for token, blocks in zip(tokens, vectors_of_tokens, strict=True):
        outputs = [
            {"index": layer, "values": values.tolist()}
            for layer, values in zip(layers, blocks, strict=True)
        ]
        features.append({"token": token, "layers": outputs})
    return {"linex_index": line_index, "features": features}


def write_vectors(
    config: ExtractFeaturesConfig,
    tokenizer: tokenization.FullTokenizer,
    layers: Sequence[int],
    predictor: "BatchPredictor",
) -> int:
    """Writes the vectors of all lines. Returns the number of lines."""
    has_fixed_shapes = config.devices.is_tpu or config.devices.jit_compile
    batches = create_batches(
        read_examples(config.input_file),
        tokenizer,
        max_seq_length=config.max_seq_length,
        batch_size=config.batch_size,
        trims_padding=not has_fixed_shapes,
    )
    num_lines = 0
    with atomic_open(config.output_file) as file:
        for features, outputs in predictor.predict(
            batches, description="Extracting"
        ):
            blocks = outputs["all_encoder_layers"]
            for row_index, length in enumerate(features["input_mask"].sum(1)):
                ids = features["input_ids"][row_index, :length].tolist()
                tokens = tokenizer.convert_ids_to_tokens(ids)
                vectors = [
                    blocks[layer][row_index, :length] for layer in layers
                ]
                line = format_features(num_lines, tokens, layers, vectors)
                num_lines += 1
                # JSON has no value that is not finite.
                text = json.dumps(line, allow_nan=False)
                file.write(f"{text}\n".encode())
    return num_lines
