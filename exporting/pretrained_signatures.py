"""Creates the signatures of a pretrainer: `fill_mask` and `next_sentence`.

N = number of texts, M = number of masks in the text with the most masks, K =
number of WordPieces that are returned for each mask.
"""

import functools
from collections.abc import Sequence

import tensorflow as tf

from data.text.ragged import with_row_splits
from data.text.tokenization import MASK
from exporting import batching_graph
from exporting.export_options import ExportOptions
from exporting.signatures import (
    ExportSignatures,
    Signature,
    Tensors,
    share_graph,
    text_inputs,
)
from model_folders.head_settings import HeadSettings
from modeling.task_models import BertPretrainer

# Number of WordPieces that are returned for each mask.
_TOP_K = 10


def create_pretrained_signatures(
    model: BertPretrainer,
    head_settings: HeadSettings,
    options: ExportOptions,
) -> ExportSignatures:
    """Returns the signatures of a pretrainer.

    The input of `fill_mask` is `text`, string [N], with any number of `[MASK]`.
    `fill_mask` returns

        tokens         string [N, M, K], the most probable WordPieces for each
                       mask, "" after the last mask of a text
        probabilities  float32 [N, M, K], the probability of each WordPiece, 0
                       after the last mask of a text
        num_masks      int32 [N], the number of masks in each text after long
                       texts are cut

    The inputs of `next_sentence` are `text_a` and `text_b`, string [N].
    `next_sentence` returns `probability`, float32 [N], that the second text
    follows the first.

    Args:
        model: model to export.
        head_settings: settings of the head. The export of a pretrainer needs
            none.
        options: without a tokenizer, the export accepts only ids. Texts longer
            than `max_seq_length` are cut.
    """
    predictor = _PretrainedPredictor(model, options)
    if not options.tokenizer:
        return ExportSignatures(predictor.predict_everywhere)
    text_signatures = {
        "fill_mask": Signature(predictor.fill_mask, text_inputs("text")),
        "next_sentence": Signature(
            predictor.next_sentence,
            text_inputs("text_a", "text_b"),
        ),
    }
    return ExportSignatures(predictor.predict_everywhere, text_signatures)


class _PretrainedPredictor:
    """Predicts masked words and next sentences with a pretrainer.

    The options need no tokenizer if only `predict_everywhere` is called.

    Attributes:
        predict: function from features and the positions of masks, int32
            [B, M], to the probabilities of words and of the second text.
    """

    def __init__(self, model: BertPretrainer, options: ExportOptions) -> None:
        self._model = model
        self._options = options
        # All signatures call the same graph.
        self.predict = share_graph(self._predict)

    def predict_everywhere(self, features: Tensors) -> Tensors:
        """Predicts the words at all positions, for the signature `ids`."""
        batch, length = tf.unstack(tf.shape(features["input_ids"]))
        positions = tf.tile(tf.range(length)[tf.newaxis], [batch, 1])
        return self.predict(features, positions)

    def fill_mask(self, text: tf.Tensor) -> Tensors:
        """Returns the best words for each `[MASK]` of texts, string [N]."""
        tokenizer = self._options.packing.tokenizer
        tokens = tokenizer.tokenize_around(text, (MASK,))
        tokens = tokens[:, : self._options.max_seq_length - 2]
        outputs = batching_graph.call_in_batches(
            functools.partial(self._fill_rows, tokens),
            tokens.nrows(tf.int32),
            self._options.predict_batch_size,
        )
        splits = _compute_mask_splits(tokens, tokenizer.id_of(MASK))
        words = tf.gather(tokenizer.vocab, outputs["ids"])
        ragged = {
            "tokens": with_row_splits(words, splits),
            "probabilities": with_row_splits(outputs["probabilities"], splits),
        }
        padded = batching_graph.to_padded(
            ragged, min(_TOP_K, len(tokenizer.vocab))
        )
        return {**padded, "num_masks": splits[1:] - splits[:-1]}

    def next_sentence(self, text_a: tf.Tensor, text_b: tf.Tensor) -> Tensors:
        """Returns how probably each `text_b` follows its `text_a`."""
        tokens = self._options.packing.tokenize(text_a, text_b)
        return batching_graph.call_in_batches(
            functools.partial(self._compare_rows, tokens),
            tf.shape(text_a)[0],
            self._options.predict_batch_size,
        )

    def _predict(self, features: Tensors, positions: tf.Tensor) -> Tensors:
        outputs = self._model(
            {**features, "masked_lm_positions": positions}, training=False
        )
        return {
            "masked_lm_probabilities": tf.nn.softmax(
                tf.cast(outputs["masked_lm_logits"], tf.float32)
            ),
            "next_sentence_probabilities": tf.nn.softmax(
                tf.cast(outputs["next_sentence_logits"], tf.float32)
            ),
        }

    def _fill_rows(
        self, tokens: tf.RaggedTensor, start: tf.Tensor, end: tf.Tensor
    ) -> Tensors:
        """Returns the best words for all masks in texts `start` to `end` - 1.

        The outputs are the `ids` of the words and their `probabilities`,
        [masks, K].
        """
        packing = self._options.packing
        features = batching_graph.pack_rows(packing, [tokens], start, end)
        # Exclude padding, because its id, 0, is the id of [MASK] in some
        # vocabularies. The tokenizer itself never returns [MASK].
        is_mask = features["input_ids"] == packing.tokenizer.id_of(MASK)
        is_mask &= features["input_mask"] > 0
        positions = tf.RaggedTensor.from_row_lengths(
            tf.cast(tf.where(is_mask)[:, 1], tf.int32),
            tf.math.count_nonzero(is_mask, 1),
        )
        is_position = tf.ones_like(positions, tf.bool).to_tensor()
        outputs = self.predict(features, positions.to_tensor())
        # Drop probabilities of ids beyond the vocabulary, because the model's
        # embedding table may contain additional rows.
        num_words = len(packing.tokenizer.vocab)
        padded = outputs["masked_lm_probabilities"][..., :num_words]
        probabilities, top_ids = tf.math.top_k(
            tf.boolean_mask(padded, is_position), min(_TOP_K, num_words)
        )
        return {"probabilities": probabilities, "ids": top_ids}

    def _compare_rows(
        self,
        tokens: Sequence[tf.RaggedTensor],
        start: tf.Tensor,
        end: tf.Tensor,
    ) -> Tensors:
        """Returns how probably texts `start` to `end` - 1 follow each other."""
        features = batching_graph.pack_rows(
            self._options.packing, tokens, start, end
        )
        # Pass no positions of masks, because only the probability that the
        # second text follows the first is needed.
        no_positions = tf.zeros_like(features["input_ids"])[:, :0]
        outputs = self.predict(features, no_positions)
        return {"probability": outputs["next_sentence_probabilities"][:, 0]}


def _compute_mask_splits(tokens: tf.RaggedTensor, mask_id: int) -> tf.Tensor:
    """Returns the row splits of the masks of all texts, int32 [N + 1].

    The masks of text i are the masks `splits[i]` to `splits[i + 1]` - 1.
    """
    is_mask = tokens.flat_values == mask_id
    num_masks = tf.cumsum(tf.cast(is_mask, tf.int32))
    num_before = tf.concat([[0], num_masks], 0)
    return tf.gather(num_before, tokens.row_splits)
