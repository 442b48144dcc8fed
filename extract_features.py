r"""Writes BERT's vectors of the tokens in each line of a text.

    python extract_features.py --init_checkpoint=MODEL --input_file=lines.txt \
        --output_file=vectors.jsonl

A line contains one text, or two texts separated by ` ||| `.
"""

import contextlib
import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from absl import logging

import modeling
import serving
from data.classification.examples import InputExample
from data.io import feature_files, text_files
from data.text import tokenization
from files import export_folders
from files.flags import flag, like
from files.paths import Kind
from training.command_line import cli
from training.config import ModelConfig, TextConfig

if TYPE_CHECKING:
    import tensorflow as tf

    from training.prediction import BatchPredictor


# {value of --token_features: minimum number of blocks}. The values are the
# paper's combinations of the blocks' outputs (table 7).
TOKEN_FEATURES = {
    "layers": 1,
    "embeddings": 0,
    "last": 1,
    "second_to_last": 2,
    "sum_last_four": 4,
    "concat_last_four": 4,
    "sum_all": 1,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(ModelConfig, TextConfig):
    """The model, the text and the vectors to write."""

    init_checkpoint: str = like(ModelConfig, "init_checkpoint", ...)
    input_file: str = flag(..., "Text to read, UTF-8.", kind=Kind.INPUT_FILE)
    output_file: str = flag(
        ..., "File of vectors to write.", kind=Kind.OUTPUT_FILE
    )
    output_format: str = flag(
        "jsonl",
        "jsonl: the JSON lines of Google's script. npz: arrays for "
        "numpy.load: values [tokens, layers, width], tokens, offsets (index "
        "of each line's first token), layers, and pooled.",
        choices=["jsonl", "npz"],
    )
    pooled: bool = flag(False, "Write each line's pooled vector as well.")
    projector_dir: str | None = flag(
        None,
        "Folder for TensorBoard's embedding projector. The script writes the "
        "pooled vector of each line, and the first vector of each token, at "
        f"most {feature_files.MAX_POINTS} of each kind.",
        kind=Kind.RUN_FOLDER,
    )
    token_features: str = flag(
        "layers",
        "Vectors to write for each token. layers: one vector for each block of "
        "--layers. Others: one vector, as in table 7 of the paper.",
        choices=list(TOKEN_FEATURES),
    )
    layer_weights: Sequence[str] | None = flag(
        None,
        "Weights of the blocks for --token_features=sum_last_four or sum_all, "
        "lowest block first, for example learned by a tagger. By default 1 "
        "for each block.",
    )
    layers: str = flag("-1,-2,-3,-4", "Blocks to write. -1 is the last block.")
    max_seq_length: int = flag(
        128,
        "Input length in WordPieces. The script cuts longer inputs, and pads "
        "shorter inputs.",
        at_least=3,
    )
    batch_size: int = flag(32, "Lines in a batch.", at_least=1)
    use_one_hot_embeddings: bool = flag(
        False,
        "Look up embeddings by multiplying one-hot rows, which is faster on a "
        "TPU.",
    )

    @property
    def needed(self) -> tuple[str, ...]:
        """Flags that must be set if the model's folder has no value."""
        return (*super().needed, "vocab_file")


def parse_features(
    name: str, layers: str, num_blocks: int
) -> list[int] | list[str]:
    """Returns the layers to write: numbers of blocks, or one combination.

    Args:
        name: value of --token_features.
        layers: value of --layers.
        num_blocks: number of blocks of the model.

    Raises:
        ValueError: the model lacks a block that the flags need.
    """
    if TOKEN_FEATURES[name] > num_blocks:
        raise ValueError(
            f"--token_features={name} needs {TOKEN_FEATURES[name]} blocks, "
            f"and the model has {num_blocks}"
        )
    if name != "layers":
        return [name]
    indexes = []
    for layer in layers.split(","):
        try:
            index = int(layer)
        except ValueError:
            index = num_blocks
        if not -num_blocks <= index < num_blocks:
            raise ValueError(
                f"--layers={layers}: {layer!r} is not one of the model's "
                f"{num_blocks} blocks, -{num_blocks} to -1"
            )
        indexes.append(index)
    return indexes


def parse_weights(
    texts: Sequence[str] | None, name: str, num_blocks: int
) -> list[float]:
    """Returns the weights of the blocks in a sum, list of float.

    Args:
        texts: value of --layer_weights, list of str. None = all weights are 1.
        name: value of --token_features.
        num_blocks: number of blocks of the model.

    Raises:
        ValueError: the weights do not fit --token_features.
    """
    num_weights = {"sum_last_four": 4, "sum_all": num_blocks}.get(name, 0)
    if texts is None:
        return [1.0] * num_weights
    needed = f"{num_weights} finite numbers" if num_weights else "unset"
    try:
        weights = [float(text) for text in texts]
    except ValueError:
        weights = []
    if len(weights) == num_weights > 0 and all(map(math.isfinite, weights)):
        return weights
    raise ValueError(
        f"--layer_weights={','.join(texts)} must be {needed} with "
        f"--token_features={name}"
    )


def read_examples(input_file: str) -> Iterator[InputExample]:
    """Yields an InputExample for each line of --input_file."""
    for index, line in enumerate(text_files.read_lines(input_file)):
        line = line.strip()
        pair = re.match(r"^(.*) \|\|\| (.*)$", line)
        text_a, text_b = pair.groups() if pair else (line, None)
        yield InputExample(index, text_a, text_b, label="0")


def extract(
    predictor: "BatchPredictor",
    batches: "tf.data.Dataset",
    tokenizer: tokenization.FullTokenizer,
    options: Config,
) -> None:
    """Writes --output_file and --projector_dir, completely or not at all.

    Args:
        predictor: BatchPredictor of an encoder.TokenFeatures.
        batches: result of encoder.create_batches.
        tokenizer: FullTokenizer of the model.
        options: flags of the script.
    """
    is_json = options.output_format == "jsonl"
    open_file = (
        feature_files.json_writer if is_json else feature_files.npz_writer
    )
    num_lines = 0
    with contextlib.ExitStack() as stack:
        write = stack.enter_context(
            open_file(options.output_file, predictor.model.layer_names)
        )
        project = None
        if options.projector_dir:
            project = stack.enter_context(
                feature_files.projector_writer(options.projector_dir)
            )
        for features, (layers, pooled) in predictor.predict(
            batches, label="Extracting"
        ):
            lengths = features["input_mask"].sum(axis=1)
            for index, length in enumerate(lengths):
                ids = features["input_ids"][index, :length]
                tokens = tokenizer.convert_ids_to_tokens(ids.tolist())
                write(
                    tokens,
                    layers[index, :, :length],
                    pooled[index] if options.pooled else None,
                )
                if project:
                    project(tokens, layers[index, 0, :length], pooled[index])
            num_lines += len(lengths)
    logging.info("Wrote %d lines to %s", num_lines, options.output_file)
    if options.projector_dir:
        logging.info(
            "View the vectors with: tensorboard --logdir=%s",
            options.projector_dir,
        )


def main(options: Config) -> None:
    """Extracts the vectors, and exports the encoder if --export_dir is set."""
    # Import TensorFlow late, so that --help and wrong flags return quickly.
    from serving import encoder
    from training import checks, devices, model_checks, model_folder
    from training.prediction import BatchPredictor

    config = checks.load_config(options)
    tokenizer = tokenization.load_tokenizer(options, config.vocab_size)
    model_checks.check_identity(
        "--init_checkpoint", options.init_checkpoint, config, tokenizer
    )
    network = model_folder.read(options.init_checkpoint).network
    name, num_blocks = options.token_features, config.num_hidden_layers
    layer_names = parse_features(name, options.layers, num_blocks)
    block_weights = parse_weights(options.layer_weights, name, num_blocks)
    text_files.expand_patterns(options.input_file, "input_file")
    if options.export_dir:
        export_folders.check(options.export_dir)
    strategy = devices.strategy_of(options)
    devices.set_precision(options.mixed_precision)
    with strategy.scope():
        model = modeling.BertModel(
            config,
            use_one_hot_embeddings=options.use_one_hot_embeddings,
            left_to_right=network["left_to_right"],
        )
        model.build()
    modeling.load_checkpoint(model, options.init_checkpoint)
    predictor = BatchPredictor(
        encoder.TokenFeatures(model, layer_names, block_weights),
        options.jit_compile,
    )
    batches = encoder.create_batches(
        read_examples(options.input_file),
        tokenizer,
        options.max_seq_length,
        options.batch_size,
        not options.has_fixed_shapes,
    )
    extract(predictor, batches, tokenizer, options)
    if options.export_dir:
        serving.export_encoder(
            options.export_dir,
            model,
            serving.ServingOptions(
                tokenizer, options.max_seq_length, export=options
            ),
        )


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, Config)


if __name__ == "__main__":
    command()
