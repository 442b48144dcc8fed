"""Computes the vectors of the tokens of texts, and writes them."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

import modeling
from data.arrays import FloatArray
from data.classification.classification_examples import InputExample
from data.classification.classification_features import convert_single_example
from data.io import text_files
from data.padding import trim_batch
from data.text import token_windows
from data.text.tokenization import FullTokenizer
from files.atomic import atomic_open
from files.json_files import JsonObject
from model_folders.bert_config import BertConfig
from model_folders.reading.preset import Preset
from modeling.bert import EncoderOutputs
from modeling.tensors import Features
from training.config.model_config import POLICY_OF_PRECISION
from training.extraction.extract_features_config import ExtractFeaturesConfig
from training.loop import devices
from training.loop.batch_predictor import BatchPredictor


class TokenVectors(NamedTuple):
    """The WordPieces of a text, and the vectors of each of them.

    Attributes:
        tokens: N WordPieces.
        vectors: outputs of L blocks, L arrays, float [N, W].
    """

    tokens: list[str]
    vectors: list[FloatArray]


def load_predictor(
    config: ExtractFeaturesConfig,
    bert_config: BertConfig,
    preset: Preset,
) -> BatchPredictor[EncoderOutputs]:
    """Loads the encoder that computes the vectors.

    Sets the dtype policy of Keras to the one of --mixed_precision.
    """
    modeling.check_checkpoint(preset, config=bert_config)
    strategy = devices.connect_devices(config.devices)
    keras.config.set_dtype_policy(
        POLICY_OF_PRECISION[config.devices.mixed_precision]
    )
    with strategy.scope():
        model = modeling.BertModel(
            bert_config,
            use_one_hot_embeddings=config.use_one_hot_embeddings,
            left_to_right=preset.network_arguments["left_to_right"],
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
    tokenizer: FullTokenizer,
    max_seq_length: int,
    batch_size: int,
    trims_padding: bool,
) -> Iterator[dict[str, tf.Tensor]]:
    """Yields the features of examples in batches.

    Args:
        examples: texts, or pairs of texts.
        tokenizer: tokenizer of the model.
        max_seq_length: number of WordPieces to which examples are cut or
            padded.
        batch_size: number of examples in a batch, B.
        trims_padding: whether to trim each batch to its longest example,
            rounded up to a multiple of 16. Otherwise T is `max_seq_length`.

    Yields:
        input_ids, input_mask and segment_ids, int32 [B, T].
    """
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
        yield trim_batch(features) if trims_padding else features


def compute_vectors(
    batches: Iterable[Features],
    tokenizer: FullTokenizer,
    layers: Sequence[int],
    predictor: BatchPredictor[EncoderOutputs],
) -> Iterator[TokenVectors]:
    """Yields the vectors of each text in batches, but no vectors of padding.

    Args:
        batches: results of `create_batches`.
        tokenizer: tokenizer of the model.
        layers: indices of L blocks.
        predictor: runs the encoder.
    """
    for features, outputs in predictor.predict(
        batches, description="Extracting"
    ):
        blocks = [*map(np.asarray, outputs["all_encoder_layers"])]
        for row_index, length in enumerate(features["input_mask"].sum(1)):
            ids = features["input_ids"][row_index, :length].tolist()
            yield TokenVectors(
                tokens=tokenizer.convert_ids_to_tokens(ids),
                vectors=[blocks[layer][row_index, :length] for layer in layers],
            )


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
    tokenizer: FullTokenizer,
    layers: Sequence[int],
    predictor: BatchPredictor[EncoderOutputs],
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
        texts = compute_vectors(batches, tokenizer, layers, predictor)
        for line_index, (tokens, vectors) in enumerate(texts):
            line = format_features(line_index, tokens, layers, vectors)
            # JSON has no value that is not finite.
            file.write(f"{json.dumps(line, allow_nan=False)}\n".encode())
            num_lines += 1
    return num_lines
