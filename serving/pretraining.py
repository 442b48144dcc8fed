"""run_pretraining.py's model over ids, and over text with masks and pairs.

N = texts, M = most masks in a text, K = WordPieces given for each mask.
"""

import tensorflow as tf

from data.tf_packing import PackingLayer
from serving import signatures
from training import export

MASK = "[MASK]"


def export_pretrainer(
    export_dir,
    model,
    vocab_file=None,
    do_lower_case=True,
    max_seq_length=128,
    top_k=10,
):
    """Exports a pretrainer: `serve` over ids, and two over text.

    `fill_mask` takes `text`, string [N], that holds `[MASK]` any number of
    times. It gives `tokens`, string [N, M, K], the most probable WordPieces
    for each, and their `probabilities`, float32; "" and 0 where a text has
    fewer masks; and `num_masks`, int32 [N], of the part that was not cut.

    `next_sentence` takes `text_a` and `text_b`, string [N]. It gives
    `probability`, float32 [N], that the second follows the first.

    Args:
        export_dir: folder to write, whole or not at all.
        model: BertPretrainer.
        vocab_file: path of its vocabulary; None exports nothing over text.
        do_lower_case: whether its text is lower-cased.
        max_seq_length: WordPieces of an input; longer texts are cut.
        top_k: K.
    """

    def predict(features, positions):
        outputs = model(
            {**features, "masked_lm_positions": positions}, training=False
        )
        return {
            f"{name}_probabilities": tf.nn.softmax(
                tf.cast(outputs[f"{name}_logits"], tf.float32)
            )
            for name in ("masked_lm", "next_sentence")
        }

    def predict_everywhere(features):
        batch, length = tf.unstack(tf.shape(features["input_ids"]))
        positions = tf.tile(tf.range(length)[tf.newaxis], [batch, 1])
        return predict(features, positions)

    endpoints = {"serve": signatures.serve_ids(predict_everywhere)}
    if vocab_file:
        packing = PackingLayer(
            vocab_file, max_seq_length, do_lower_case, portable=True
        )
        endpoints |= _text_endpoints(predict, packing, top_k)
    export.export_saved_model(
        export_dir, model, endpoints, signatures.bert_files(model, vocab_file)
    )


def _text_endpoints(predict, packing, top_k):
    """Returns the endpoints over text; see `export_pretrainer`."""
    vocab = packing.tokenizer.vocab
    mask_id = vocab.index(MASK)

    def fill_mask(text):
        tokens = _tokenize_around_masks(text, packing.tokenizer, mask_id)
        features = signatures.trim(packing.pack(tokens))
        # The tokenizer itself never makes the mask.
        rows, columns = tf.unstack(
            tf.where(features["input_ids"] == mask_id), axis=1
        )
        positions = tf.RaggedTensor.from_value_rowids(
            tf.cast(columns, tf.int32), rows, tf.size(text, tf.int64)
        )
        is_mask = tf.ones_like(positions, tf.bool).to_tensor()
        outputs = predict(features, positions.to_tensor())
        probabilities, ids = tf.math.top_k(
            outputs["masked_lm_probabilities"], min(top_k, len(vocab))
        )
        is_mask = is_mask[:, :, None]
        return {
            "tokens": tf.where(is_mask, tf.gather(vocab, ids), ""),
            "probabilities": tf.where(is_mask, probabilities, 0.0),
            "num_masks": tf.cast(positions.row_lengths(), tf.int32),
        }

    def next_sentence(text_a, text_b):
        features = signatures.trim(packing(text_a, text_b))
        # Of the masked LM's outputs none is wanted.
        nowhere = tf.zeros_like(features["input_ids"])[:, :0]
        outputs = predict(features, nowhere)
        return {"probability": outputs["next_sentence_probabilities"][:, 0]}

    return {
        "fill_mask": (fill_mask, signatures.text_signature("text")),
        "next_sentence": (
            next_sentence,
            signatures.text_signature("text_a", "text_b"),
        ),
    }


def _tokenize_around_masks(texts, tokenizer, mask_id):
    """Returns the ids of texts, ragged int32 [N, None], masks among them."""
    parts = tf.strings.split(texts, MASK)
    ids = tokenizer(parts.flat_values)
    # A mask before each part, and the first of a text's taken away again.
    masks = tf.fill([ids.nrows(), 1], mask_id)
    ids = parts.with_flat_values(tf.concat([masks, ids], 1))
    return ids.merge_dims(1, 2)[:, 1:]
