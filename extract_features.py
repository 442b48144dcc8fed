r"""Writes the vectors that BERT's layers compute for the tokens of texts.

    python extract_features.py --init_checkpoint=MODEL --input_file=lines.txt \
        --output_file=vectors.jsonl

A line of the input contains one text, or two texts separated by ` ||| `.
"""

import dataclasses
import functools
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from absl import logging

import modeling
from command_line import cli, config_values, flags
from command_line.flags import flag, group, like
from command_line.groups import POLICY_OF_PRECISION, DeviceFlags, ModelFlags
from command_line.path_flags import PathKind
from data.arrays import FloatArray
from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    convert_single_example,
)
from data.io import text_files
from data.text import token_windows, tokenization, tokenizer_loading
from files.atomic import atomic_open
from files.json_files import JsonObject
from model_folders.reading import hub, preset_reading, presets, settings_check
from model_folders.reading.settings_check import check_lengths
from training.preparation.flag_completion import check_required

if TYPE_CHECKING:
    import tensorflow as tf

    from execution.batch_predictor import BatchPredictor


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """Flags of the script: the model, the texts and the vectors to write."""

    model: ModelFlags = group(ModelFlags, init_checkpoint=like(default=...))
    devices: DeviceFlags = group(DeviceFlags)
    input_file: str = flag(
        ...,
        "UTF-8 text file to read, one text per line.",
        kind=PathKind.INPUT_FILE,
    )
    output_file: str = flag(
        ..., "File to write the vectors to.", kind=PathKind.OUTPUT_FILE
    )
    layers: str = flag(
        "-1,-2,-3,-4",
        "Transformer blocks whose outputs to write, comma-separated. -1 is the "
        "last block.",
    )
    max_seq_length: int = flag(
        128,
        "Input length in WordPieces. The script cuts longer inputs, and pads "
        "shorter inputs.",
        at_least=3,
    )
    batch_size: int = flag(32, "Number of lines in a batch.", at_least=1)
    use_one_hot_embeddings: bool = flag(
        False,
        "Look up embeddings by multiplying one-hot vectors with the embedding "
        "table, which is faster on a TPU.",
    )

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the vectors."""
        return self.devices.is_chief

    def download(self) -> Self:
        """Downloads a model of the hub. Returns the flags with its folder."""
        return config_values.convert_paths(
            self, hub.to_local_folder, "init_checkpoint"
        )


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

    from data.io import record_datasets

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
        yield (
            record_datasets.trim_padding(features)
            if trims_padding
            else features
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


def read_model_files(
    config: Config, set_by_user: frozenset[str], preset: presets.Preset
) -> tuple["modeling.BertConfig", tokenization.FullTokenizer]:
    """Reads the configuration and the vocabulary.

    Args:
        config: the flags, completed by what the folder of the weights states.
        set_by_user: names of the flags that the user set.
        preset: Preset of the weights.

    Raises:
        ValueError: a flag is not set, or contradicts a file.
        OSError: a file cannot be read.
    """
    check_required(config, ("bert_config_file", "vocab_file"), preset)
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


def create_predictor(
    config: Config, bert_config: "modeling.BertConfig", preset: presets.Preset
) -> "BatchPredictor":
    """Loads the encoder that computes the vectors."""
    # Import late, so that --help and errors in flags do not wait until
    # TensorFlow is loaded.
    import keras

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


def write_vectors(
    config: Config,
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


def main(parsed: flags.ParsedCommand[Config]) -> None:
    """Writes the vectors of the lines of --input_file."""
    checkpoint = str(parsed.config.model.init_checkpoint)
    preset = preset_reading.read_preset(checkpoint, "--init_checkpoint")
    stated = preset.identity_flags()
    config = config_values.fill_unset_flags(
        parsed.config, parsed.set_by_user, stated, checkpoint
    )
    bert_config, tokenizer = read_model_files(
        config, parsed.set_by_user, preset
    )
    settings_check.check_trained_settings(preset, bert_config, tokenizer)
    preset.warn_of_pooling()
    layers = parse_layers(config.layers, bert_config.num_hidden_layers)
    predictor = create_predictor(config, bert_config, preset)
    num_lines = write_vectors(config, tokenizer, layers, predictor)
    logging.info("Wrote %d lines to %s", num_lines, config.output_file)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
