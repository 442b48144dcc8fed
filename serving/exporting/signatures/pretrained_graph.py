"""The signatures `fill_mask` and `next_sentence` of a pretrained model.

N = number of texts, M = number of masks in the text with the most masks, K =
number of WordPieces that are returned for each mask.
"""

from collections.abc import Callable

import tensorflow as tf

from data.text.ragged import with_row_splits
from model_folders.model_entries import HeadSettings
from modeling.task_models import BertPretrainer
from serving.exporting.export_options import ExportOptions
from serving.exporting.signatures import batches, export_head
from serving.exporting.signatures.batches import Tensors
from serving.tasks.text_task import MASK

# Number of WordPieces that are returned for each mask.
_TOP_K = 10
# Function from features and the positions of masks, int32 [B, M], to the
# probabilities of words and of the second text.
_PredictWords = Callable[[Tensors, tf.Tensor], Tensors]


def create_head(
    model: BertPretrainer, settings: HeadSettings, options: ExportOptions
) -> export_head.Head:
    """Returns the head of a pretrainer, with two signatures that accept text.

    The input of `fill_mask` is `text`, string [N], with any number of `[MASK]`.
    It returns

        tokens         string [N, M, K], the most probable WordPieces for each
                       mask, "" after the last mask of a text
        probabilities  float32 [N, M, K], the probability of each WordPiece, 0
                       after the last mask of a text
        num_masks      int32 [N], the number of masks in each text after long
                       texts are cut

    The inputs of `next_sentence` are `text_a` and `text_b`, string [N]. It
    returns `probability`, float32 [N], that the second text follows the first.

    Args:
        model: a BertPretrainer.
        settings: not used.
        options: without a tokenizer, the export accepts only ids. Texts longer
            than `max_seq_length` are cut.
    """

    @export_head.share_graph
    def predict(features: Tensors, positions: tf.Tensor) -> Tensors:
        outputs = model(
            {**features, "masked_lm_positions": positions}, training=False
        )
        return {
            f"{name}_probabilities": tf.nn.softmax(
                tf.cast(outputs[f"{name}_logits"], tf.float32)
            )
            for name in ("masked_lm", "next_sentence")
        }

    def predict_everywhere(features: Tensors) -> Tensors:
        batch, length = tf.unstack(tf.shape(features["input_ids"]))
        positions = tf.tile(tf.range(length)[tf.newaxis], [batch, 1])
        return predict(features, positions)

    if not options.tokenizer:
        return export_head.Head(predict_everywhere)
    endpoints = {
        "fill_mask": export_head.Endpoint(
            _create_fill_mask(predict, options), export_head.text_inputs("text")
        ),
        "next_sentence": export_head.Endpoint(
            _create_next_sentence(predict, options),
            export_head.text_inputs("text_a", "text_b"),
        ),
    }
    return export_head.Head(predict_everywhere, endpoints)


def _create_fill_mask(
    predict: _PredictWords, options: ExportOptions
) -> Callable[[tf.Tensor], Tensors]:
    """Returns the function of the signature `fill_mask`."""
    packing = options.packing
    vocab = packing.tokenizer.vocab
    mask_id = packing.tokenizer.id_of(MASK)
    top_k = min(_TOP_K, len(vocab))

    def fill_mask(text: tf.Tensor) -> Tensors:
        tokens = packing.tokenizer.tokenize_around(text, (MASK,))
        tokens = tokens[:, : options.max_seq_length - 2]

        def fill_rows(start: tf.Tensor, end: tf.Tensor) -> Tensors:
            features = batches.pack_rows(packing, [tokens], start, end)
            # Exclude padding, because its id, 0, is the id of [MASK] in some
            # vocabularies. The tokenizer itself never returns [MASK].
            is_mask = features["input_ids"] == mask_id
            is_mask &= features["input_mask"] > 0
            positions = tf.RaggedTensor.from_row_lengths(
                tf.cast(tf.where(is_mask)[:, 1], tf.int32),
                tf.math.count_nonzero(is_mask, 1),
            )
            is_position = tf.ones_like(positions, tf.bool).to_tensor()
            outputs = predict(features, positions.to_tensor())
            # Drop probabilities of ids beyond the vocabulary, because the
            # model's embedding table may contain additional rows.
            named = outputs["masked_lm_probabilities"][..., : len(vocab)]
            probabilities, top_ids = tf.math.top_k(
                tf.boolean_mask(named, is_position), top_k
            )
            return {"probabilities": probabilities, "ids": top_ids}

        outputs = batches.call_in_batches(
            fill_rows, tokens.nrows(tf.int32), options.predict_batch_size
        )
        before = tf.cumsum(tf.cast(tokens.flat_values == mask_id, tf.int32))
        splits = tf.gather(tf.concat([[0], before], 0), tokens.row_splits)
        flat = {
            "tokens": tf.gather(vocab, outputs["ids"]),
            "probabilities": outputs["probabilities"],
        }
        padded = batches.to_padded(
            {
                name: with_row_splits(values, splits)
                for name, values in flat.items()
            },
            top_k,
        )
        return {**padded, "num_masks": splits[1:] - splits[:-1]}

    return fill_mask


def _create_next_sentence(
    predict: _PredictWords, options: ExportOptions
) -> Callable[[tf.Tensor, tf.Tensor], Tensors]:
    """Returns the function of the signature `next_sentence`."""
    packing = options.packing

    def next_sentence(text_a: tf.Tensor, text_b: tf.Tensor) -> Tensors:
        tokens = packing.tokenize(text_a, text_b)

        def compare_rows(start: tf.Tensor, end: tf.Tensor) -> Tensors:
            features = batches.pack_rows(packing, tokens, start, end)
            # Pass no positions of masks, because only the probability that the
            # second text follows the first is needed.
            nowhere = tf.zeros_like(features["input_ids"])[:, :0]
            outputs = predict(features, nowhere)
            return {"probability": outputs["next_sentence_probabilities"][:, 0]}

        return batches.call_in_batches(
            compare_rows, tf.shape(text_a)[0], options.predict_batch_size
        )

    return next_sentence
