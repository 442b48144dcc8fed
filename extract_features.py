r"""Writes the vectors that BERT's layers compute for the tokens of texts.

    python extract_features.py --init_checkpoint=MODEL --input_file=lines.txt \
        --output_file=vectors.jsonl

A line of the input contains one text, or two texts separated by ` ||| `.
"""

import contextlib
import dataclasses
import functools
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


# {value of --token_features: minimum number of the model's Transformer blocks}.
# All keys except "layers" are rows of table 7 in the BERT paper.
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
    """Flags of the script: the model, the texts and the vectors to write."""

    init_checkpoint: str = like(ModelConfig, "init_checkpoint", ...)
    input_file: str = flag(
        ..., "UTF-8 text file to read, one text per line.", kind=Kind.INPUT_FILE
    )
    output_file: str = flag(
        ..., "File to write the vectors to.", kind=Kind.OUTPUT_FILE
    )
    output_format: str = flag(
        "jsonl",
        "jsonl: JSON lines as Google's script writes them. npz: a file for "
        "numpy.load with the arrays `values` [tokens, layers, width], "
        "`tokens`, `offsets` (index of each line's first token), `layers` and, "
        "if --pooled is set, `pooled`.",
        choices=["jsonl", "npz"],
    )
    pooled: bool = flag(
        False, "Also write the pooled output of the model for each line."
    )
    projector_dir: str | None = flag(
        None,
        "Folder for files of TensorBoard's embedding projector. The files "
        "contain the pooled output of each line and one vector of each token "
        "(with several --layers, from the first block that the flag lists), "
        f"for at most {feature_files.MAX_POINTS} lines and as many tokens.",
        kind=Kind.RUN_FOLDER,
    )
    token_features: str = flag(
        "layers",
        "Vectors to write for each token. layers: the output of each block in "
        "--layers. Other values: one vector that combines blocks, as in table "
        "7 of the BERT paper.",
        choices=list(TOKEN_FEATURES),
    )
    layer_weights: Sequence[str] | None = flag(
        None,
        "Factors by which --token_features=sum_last_four or sum_all multiplies "
        "the outputs of the blocks, comma-separated, lowest block first. The "
        "default is 1 for each block.",
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
    def needed(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder records them."""
        return (*super().needed, "vocab_file")


def parse_layers(
    options: Config, num_blocks: int
) -> tuple[list[int] | list[str], list[float]]:
    """Parses --layers, --token_features and --layer_weights.

    Args:
        options: flags of the script.
        num_blocks: number of Transformer blocks of the model.

    Returns:
        (names, factors). With --token_features=layers, `names` are the numbers
        of the blocks in --layers, otherwise [value of --token_features].
        `factors` are the factors of the blocks that --token_features adds up.

    Raises:
        ValueError: the model lacks a block that the flags need, a factor is not
            finite, or there is not one factor for each block that
            --token_features adds up.
    """
    name, texts = options.token_features, options.layer_weights
    if TOKEN_FEATURES[name] > num_blocks:
        raise ValueError(
            f"--token_features={name} needs {TOKEN_FEATURES[name]} blocks, but "
            f"the model has {num_blocks}. Choose another --token_features"
        )
    indexes = []
    for layer in options.layers.split(",") if name == "layers" else ():
        try:
            index = int(layer)
        except ValueError:
            index = num_blocks
        if not -num_blocks <= index < num_blocks:
            raise ValueError(
                f"--layers={options.layers}: {layer!r} is not one of the "
                f"model's {num_blocks} blocks. Use numbers from -{num_blocks} "
                "to -1"
            )
        indexes.append(index)
    num_weights = {"sum_last_four": 4, "sum_all": num_blocks}.get(name, 0)
    weights = [1.0] * num_weights
    if texts is not None:
        try:
            weights = [float(text) for text in texts]
        except ValueError:
            weights = []
        is_finite = all(map(math.isfinite, weights))
        if not (len(weights) == num_weights > 0 and is_finite):
            needed = f"{num_weights} finite numbers" if num_weights else "unset"
            raise ValueError(
                f"--layer_weights={','.join(texts)} must be {needed} with "
                f"--token_features={name}"
            )
    return indexes or [name], weights


def read_examples(input_file: str) -> Iterator[InputExample]:
    """Yields an InputExample for each line of a text file.

    A line contains one text, or two texts separated by ` ||| `.
    """
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
    """Computes the vectors, and writes --output_file and --projector_dir.

    The files appear when all vectors are written. The model of `predictor` is
    an encoder.TokenFeatures, and encoder.create_batches created `batches`.
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
    """Writes the vectors, and exports the encoder if --export_dir is set."""
    # Import late, so that --help and errors in flags do not wait until
    # TensorFlow is loaded.
    from serving import encoder
    from training import checks, devices, model_folder
    from training.prediction import BatchPredictor

    config = checks.load_config(options)
    tokenizer = tokenization.load_tokenizer(options, config.vocab_size)
    folder = model_folder.read(options.init_checkpoint, "--init_checkpoint")
    folder.check_identity(config, tokenizer)
    layer_names, weights = parse_layers(options, config.num_hidden_layers)
    text_files.expand_patterns(options.input_file, "input_file")
    if options.export_dir:
        export_folders.check(options.export_dir)
    strategy = devices.strategy_of(options)
    devices.set_precision(options.mixed_precision)
    with strategy.scope():
        model = modeling.BertModel(
            config,
            use_one_hot_embeddings=options.use_one_hot_embeddings,
            left_to_right=folder.network["left_to_right"],
        )
        model.build()
    modeling.load_checkpoint(model, options.init_checkpoint)
    predictor = BatchPredictor(
        encoder.TokenFeatures(model, layer_names, weights),
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


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
