"""extract_features.py's model over ids, and over text.

N = texts, T = WordPieces of the longest, W = hidden size.
"""

import tensorflow as tf

from data.tf_packing import PackingLayer
from serving import signatures
from training import export


def export_encoder(
    export_dir, model, vocab_file, do_lower_case, max_seq_length
):
    """Exports an encoder: `serve` over ids, `embed` over text.

    `embed` takes `text`, string [N]. It gives `pooled_output`, float32
    [N, W]; `sequence_output`, float32 [N, T, W], the last block's, 0 where a
    text has ended; `tokens`, string [N, T], its WordPieces, [CLS] and [SEP]
    among them, "" where it has ended; and `lengths`, int32 [N], how many.

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertModel.
        vocab_file: path of its vocabulary.
        do_lower_case: whether its text is lower-cased.
        max_seq_length: WordPieces of an input; longer texts are cut.
    """
    packing = PackingLayer(
        vocab_file, max_seq_length, do_lower_case, portable=True
    )

    def encode(features):
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

    def embed(text):
        features = signatures.trim(packing(text))
        outputs = encode(features)
        is_real = features["input_mask"] > 0
        tokens = tf.gather(packing.tokenizer.vocab, features["input_ids"])
        return {
            "pooled_output": outputs["pooled_output"],
            "sequence_output": tf.where(
                is_real[:, :, None], outputs["sequence_output"], 0.0
            ),
            "tokens": tf.where(is_real, tokens, ""),
            "lengths": tf.reduce_sum(features["input_mask"], 1),
        }

    export.export_saved_model(
        export_dir,
        model,
        {
            "serve": signatures.serve_ids(encode),
            "embed": (embed, signatures.text_signature("text")),
        },
        signatures.bert_files(model, vocab_file),
    )
