"""extract_features.py's model over ids, and over text.

N = texts, T = WordPieces of the longest, W = hidden size.
"""

import os
from collections.abc import Callable

import keras
import tensorflow as tf

from data.text.packing_layer import PackingLayer
from data.text.ragged import rows
from serving import export, inspection, signatures
from serving.signatures import Features

# Maximum values of an output, padding too, unless at least a quarter are real:
# 256 MB.
_MAX_PADDING = 1 << 26


def export_encoder(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    options: signatures.ServingOptions,
) -> None:
    """Exports an encoder: `serve` over ids, `embed` over text.

    `embed` takes `text`, string [N], and returns

        pooled_output    float32 [N, W]
        sequence_output  float32 [N, T, W], the last block's; 0 where a text
                         has ended
        tokens           string [N, T], its WordPieces with [CLS] and [SEP];
                         "" where it has ended
        lengths          int32 [N], the number of its tokens

    Of `tokenize` and `attention` see inspection.py.

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertModel.
        options: longer texts are cut.
    """
    packing = options.create_packing()

    def encode(features: Features) -> Features:
        outputs = model(
            features["input_ids"],
            features["input_mask"],
            features["segment_ids"],
            training=False,
        )
        return {
            name: tf.cast(outputs[name], tf.float32)
            for name in ("sequence_output", "pooled_output")
        }

    encode = signatures.trace_once(encode, options.export)
    export.export_saved_model(
        export_dir,
        model,
        {
            "serve": signatures.serve_ids(encode, model.config, options.export),
            "embed": (
                _embed(encode, packing, options, model.config.hidden_size),
                signatures.text_signature("text"),
            ),
            **inspection.inspect(model, packing),
        },
        signatures.bert_files(model),
        options.export,
        options.tokenizer,
    )


def _embed(
    encode: Callable[[Features], Features],
    packing: PackingLayer,
    options: signatures.ServingOptions,
    width: int,
) -> Callable[[tf.Tensor], Features]:
    """Returns the function of `embed`; see `export_encoder`."""

    def embed(text: tf.Tensor) -> Features:
        (tokens,) = packing.tokenize(text)
        lengths = tf.cast(tokens.row_lengths(), tf.int32) + 2
        lengths = tf.minimum(lengths, options.max_seq_length)
        longest = tf.reduce_max(tf.concat([lengths, [1]], 0))

        def embed_some(begin: tf.Tensor, end: tf.Tensor) -> Features:
            features = {
                name: value[:, :longest]
                for name, value in packing.pack(
                    rows(tokens, begin, end)
                ).items()
            }
            outputs = encode(features)
            is_real = features["input_mask"] > 0
            names = tf.gather(packing.tokenizer.vocab, features["input_ids"])
            return {
                "pooled_output": outputs["pooled_output"],
                "sequence_output": tf.where(
                    is_real[:, :, None], outputs["sequence_output"], 0.0
                ),
                "tokens": tf.where(is_real, names, ""),
            }

        check = signatures.check_padding(lengths, _MAX_PADDING // width)
        with tf.control_dependencies([check] if check is not None else []):
            num_texts = tf.size(lengths)
        outputs = signatures.call_in_batches(
            embed_some,
            num_texts,
            options.predict_batch_size,
            {
                "pooled_output": tf.TensorSpec([None, width]),
                "sequence_output": tf.TensorSpec([None, None, width]),
                "tokens": tf.TensorSpec([None, None], tf.string),
            },
        )
        return {**outputs, "lengths": lengths}

    return embed
