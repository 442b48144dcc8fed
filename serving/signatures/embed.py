"""Exports encoders, and creates the batches of extract_features.py.

N = number of texts, B = batch size, T = WordPieces of the longest text, W =
hidden size.
"""

import itertools
import os
from collections.abc import Iterable, Iterator

import keras
import tensorflow as tf

from data.classification.features import InputExample, convert_single_example
from data.io import tfrecords
from data.text.token_windows import count_cut
from data.text.tokenization import FullTokenizer
from serving import engines
from serving.formats.base import ExportOptions, trace_once
from serving.signatures import base as signatures
from serving.signatures import batches
from serving.signatures.batches import Features

# If a padded output contains more values than this, at least a quarter of the
# values must not be padding. This number of float32 values needs 256 MiB.
_MAX_PADDING = 1 << 26


def export_encoder(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    options: ExportOptions,
) -> None:
    """Exports an encoder: `ids` accepts ids, `embed` accepts text.

    The input of `embed` is `text`, string [N]. It returns

        pooled_output    float32 [N, W], the output of the model's pooler
        mean_output      float32 [N, W], the mean over the text's tokens
        mean_normalized  float32 [N, W], the mean divided by its L2 norm
        sequence_output  float32 [N, T, W], outputs of the last block, 0 after
                         the end of a text
        tokens           string [N, T], the WordPieces with [CLS] and [SEP], ""
                         after the end of a text
        lengths          int32 [N], the number of tokens

    A SavedModel also contains the signature of `signatures.tokenize_texts`.

    Args:
        export_dir: folder to write. It gets this name when it is complete.
        model: BertModel to export.
        options: ExportOptions. Texts longer than `options.max_seq_length` are
            cut.
    """

    @trace_once
    def encode(features: Features) -> Features:
        outputs = model(features, training=False)
        return {
            name: tf.cast(outputs[name], tf.float32)
            for name in ("sequence_output", "pooled_output")
        }

    packing, width = options.packing, model.config.hidden_size

    def embed(text: tf.Tensor) -> Features:
        (tokens,) = packing.tokenize(text)
        lengths = tf.cast(tokens.row_lengths(), tf.int32) + 2
        lengths = tf.minimum(lengths, options.max_seq_length)
        longest = tf.reduce_max(tf.concat([lengths, [1]], 0))

        def embed_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            packed = packing.pack(tokens[begin:end])
            features = {name: ids[:, :longest] for name, ids in packed.items()}
            outputs = encode(features)
            is_real = features["input_mask"] > 0
            names = tf.gather(packing.tokenizer.vocab, features["input_ids"])
            sequence = tf.where(
                is_real[:, :, None], outputs["sequence_output"], 0.0
            )
            count = tf.reduce_sum(tf.cast(is_real, tf.float32), 1)
            mean = tf.reduce_sum(sequence, 1) / count[:, None]
            return {
                "pooled_output": outputs["pooled_output"],
                "mean_output": mean,
                "mean_normalized": tf.math.l2_normalize(mean, -1, 1e-24),
                "sequence_output": sequence,
                "tokens": tf.where(is_real, names, ""),
            }

        check = batches.check_padding(lengths, _MAX_PADDING // width)
        with tf.control_dependencies([check]):
            num_texts = tf.size(lengths)
        outputs = batches.call_in_batches(
            embed_some, num_texts, options.predict_batch_size
        )
        return {**outputs, "lengths": lengths}

    endpoints: signatures.Endpoints = {
        "embed": (embed, signatures.text_signature("text"))
    }
    signatures.export_model(export_dir, model, encode, options, endpoints)


def create_batches(
    examples: Iterable[InputExample],
    tokenizer: FullTokenizer,
    max_seq_length: int,
    batch_size: int,
    trim: bool,
) -> Iterator[dict[str, tf.Tensor]]:
    """Yields the features of examples in batches, int32 [B, T] each.

    Examples are cut or padded to `max_seq_length` WordPieces. `trim` removes
    the padding that all examples of a batch have in common.
    """
    converted = (
        convert_single_example(index, example, None, max_seq_length, tokenizer)
        for index, example in enumerate(examples)
    )
    counted = count_cut(
        converted,
        lambda each: each.is_cut,
        f"texts were cut at --max_seq_length={max_seq_length}",
    )
    while batch := [*itertools.islice(counted, batch_size)]:
        features = {
            name: tf.constant([getattr(f, name) for f in batch], tf.int32)
            for name in engines.INPUTS
        }
        yield tfrecords.trim_padding(features) if trim else features
