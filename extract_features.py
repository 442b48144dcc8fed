"""Writes the vectors that BERT gives to each token of each line of a text.

A line is one text, or two with ` ||| ` between them.
"""

import json
import re
from pathlib import Path

import numpy as np
import tensorflow as tf
from absl import flags, logging

import modeling
from data import files, glue, tokenization
from training import cli, distribution, export, progress, runner
from training import flags as common_flags

FLAGS = flags.FLAGS


def define_flags():
    """Defines the original's flags, and those this project adds."""
    common_flags.define_model_flags()
    common_flags.define_text_flags()
    common_flags.define_device_flags()
    common_flags.define_export_flags()
    flags.DEFINE_string("input_file", None, "Text to read, UTF-8.")
    flags.DEFINE_string("output_file", None, "JSON lines to write.")
    flags.DEFINE_string(
        "layers", "-1,-2,-3,-4", "Blocks to take, counted from the last, -1."
    )
    flags.DEFINE_integer(
        "max_seq_length",
        128,
        "Longest input in WordPieces; longer ones are cut, shorter padded.",
        lower_bound=3,
    )
    flags.DEFINE_integer("batch_size", 32, "Lines in a batch.", lower_bound=1)
    flags.DEFINE_bool(
        "use_one_hot_embeddings",
        False,
        "Look words up by a product with one-hot rows; faster on a TPU.",
    )


def parse_layers(layers, num_hidden_layers):
    """Returns the list of block numbers that --layers gives.

    Raises:
        ValueError: one of them is not a number, or no block has it.
    """
    indexes = []
    for layer in layers.split(","):
        try:
            index = int(layer)
        except ValueError:
            index = num_hidden_layers
        if not -num_hidden_layers <= index < num_hidden_layers:
            raise ValueError(
                f"--layers={layers}: {layer!r} is not one of the model's "
                f"{num_hidden_layers} blocks, -{num_hidden_layers} to -1"
            )
        indexes.append(index)
    return indexes


def read_examples(input_file):
    """Yields an InputExample for each line of a file."""
    for index, line in enumerate(files.read_lines(input_file)):
        line = line.strip()
        pair = re.match(r"^(.*) \|\|\| (.*)$", line)
        text_a, text_b = pair.groups() if pair else (line, None)
        yield glue.InputExample(index, text_a, text_b, label="0")


def create_batches(examples, tokenizer):
    """Yields lists of up to --batch_size InputFeatures."""
    batch = []
    for index, example in enumerate(examples):
        batch.append(
            glue.convert_single_example(
                index, example, ["0"], FLAGS.max_seq_length, tokenizer
            )
        )
        if len(batch) == FLAGS.batch_size:
            yield batch
            batch = []
    if batch:
        yield batch


def to_json(index, tokens, layer_indexes, layers):
    """Returns the original's JSON object for one line.

    Args:
        index: number of the line, from 0.
        tokens: its N WordPieces.
        layer_indexes: numbers of the blocks.
        layers: their outputs, float [num blocks, T, W].
    """
    # In double precision, so that a rounded value is written short.
    rounded = np.round(layers[:, : len(tokens)].astype(np.float64), 6)
    return {
        "linex_index": index,
        "features": [
            {
                "token": token,
                "layers": [
                    {
                        "index": layer_index,
                        "values": rounded[layer, position].tolist(),
                    }
                    for layer, layer_index in enumerate(layer_indexes)
                ],
            }
            for position, token in enumerate(tokens)
        ],
    }


def extract(model, tokenizer, layer_indexes):
    """Writes --output_file, whole or not at all."""

    @tf.function(reduce_retracing=True, jit_compile=FLAGS.jit_compile or None)
    def forward(input_ids, input_mask, segment_ids):
        outputs = model(input_ids, input_mask, segment_ids, training=False)
        layers = [outputs["all_encoder_layers"][i] for i in layer_indexes]
        return tf.cast(tf.stack(layers, axis=1), tf.float32)

    num_lines = 0
    batches = create_batches(read_examples(FLAGS.input_file), tokenizer)
    with files.atomic_open(FLAGS.output_file) as output:
        for batch in progress.track(batches, None, "batch", "Extracting"):
            inputs = [
                tf.constant([getattr(f, name) for f in batch], tf.int32)
                for name in export.INPUT_NAMES
            ]
            for feature, layers in zip(
                batch, forward(*inputs).numpy(), strict=True
            ):
                length = sum(feature.input_mask)
                tokens = tokenizer.convert_ids_to_tokens(
                    feature.input_ids[:length]
                )
                line = to_json(num_lines, tokens, layer_indexes, layers)
                output.write(json.dumps(line).encode("utf-8") + b"\n")
                num_lines += 1
    logging.info("Wrote %d lines to %s", num_lines, FLAGS.output_file)


def export_encoder(export_dir, model):
    """Exports the last block's output and the pooled one."""

    def serve(input_ids, input_mask, segment_ids):
        outputs = model(input_ids, input_mask, segment_ids, training=False)
        return {
            name: tf.cast(outputs[name], tf.float32)
            for name in ("sequence_output", "pooled_output")
        }

    export.export_saved_model(
        export_dir,
        model,
        {"serve": (serve, export.ids_signature())},
        {
            "vocab.txt": Path(FLAGS.vocab_file),
            "bert_config.json": model.config.to_json_string(),
        },
    )


def main(_):
    """Extracts and exports as the flags say."""
    tokenization.validate_case_matches_checkpoint(
        FLAGS.do_lower_case, FLAGS.init_checkpoint
    )
    config = runner.load_config(FLAGS, FLAGS.max_seq_length)
    tokenization.check_vocab(FLAGS.vocab_file, config.vocab_size)
    layer_indexes = parse_layers(FLAGS.layers, config.num_hidden_layers)
    files.expand_patterns(FLAGS.input_file, "input_file")
    if FLAGS.export_dir:
        export.check_export_dir(FLAGS.export_dir)
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )
    strategy = runner.create_strategy(FLAGS)
    distribution.set_precision(FLAGS.mixed_precision)
    with strategy.scope():
        model = modeling.BertModel(
            config, use_one_hot_embeddings=FLAGS.use_one_hot_embeddings
        )
        model.build()
    modeling.load_checkpoint(model, FLAGS.init_checkpoint)
    extract(model, tokenizer, layer_indexes)
    if FLAGS.export_dir:
        export_encoder(FLAGS.export_dir, model)


if __name__ == "__main__":
    cli.run(
        main,
        define_flags,
        (
            "input_file",
            "output_file",
            "vocab_file",
            "bert_config_file",
            "init_checkpoint",
        ),
    )
