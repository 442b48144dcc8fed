"""Creates the signatures of a classifier of words: `tag` and `tag_words`.

Graphs of data/ner/ split the texts into words and windows, and choose the tags.

N = number of texts, M = words of the longest text.
"""

import functools

import tensorflow as tf

from data.ner.sentence_windows_graph import cut_texts, separate_words
from data.ner.tag_decoding_graph import decode_legal_tags
from data.padding import trim_batch
from data.text.token_windows_graph import Windows
from exporting import batching_graph
from exporting.export_options import ExportOptions
from exporting.label_outputs import choose_output_labels, create_label_predictor
from exporting.signatures import (
    ExportSignatures,
    Signature,
    Tensors,
    share_graph,
    text_inputs,
)
from model_folders.head_settings import TokenClassifierSettings
from model_folders.output_modes import CLASSIFICATION
from modeling.task_models import BertTokenClassifier


def create_tag_signatures(
    model: BertTokenClassifier,
    head_settings: TokenClassifierSettings,
    options: ExportOptions,
) -> ExportSignatures:
    """Returns the signatures of a token classifier.

    The input of `tag_words` is `text`, string [N], of any length, with white
    space between the words, as in CoNLL's files. `tag_words` returns

        words          string [N, M], "" after the last word of a text
        tags           string [N, M], "" after the last word of a text
        probabilities  float32 [N, M], the probability of each tag
        num_words      int32 [N], the number of words

    `tag` returns the same outputs for text that is not split into words yet. It
    first splits off, as separate words: punctuation at the start or end of a
    word, dashes and ellipses between words ("York\u2014often"), and each
    ideograph. Other punctuation inside words stays, as in CoNLL's files:
    "U.S.", "O'Brien", "Franco-German".

    Args:
        model: model to export.
        head_settings: `labels`, the tags in the order of the model's outputs.
            `legal_tags`, True (the default) to return the best legal sequence
            of tags (see data/ner/sentence_windows.py), False to return the best
            tag of each word.
        options: texts longer than `max_seq_length` are read in several windows.
    """
    labels = choose_output_labels(model, head_settings)
    chooses_legal_tags = head_settings.get("legal_tags", True)
    tagger = _WordTagger(
        model, labels, options, chooses_legal_tags=chooses_legal_tags
    )
    inputs = text_inputs("text")
    text_signatures = {
        "tag": Signature(tagger.tag, inputs),
        "tag_words": Signature(tagger.tag_words, inputs),
    }
    exported_settings: TokenClassifierSettings = {
        "labels": labels,
        "legal_tags": chooses_legal_tags,
    }
    return ExportSignatures(
        tagger.predict,
        text_signatures,
        head_settings=exported_settings,
    )


class _WordTagger:
    """Tags words with a token classifier.

    Attributes:
        predict: function of the signature `ids`.
        tag_words: function of the signature `tag_words`.
    """

    def __init__(
        self,
        model: BertTokenClassifier,
        labels: list[str],
        options: ExportOptions,
        *,
        chooses_legal_tags: bool,
    ) -> None:
        self._labels = labels
        self._chooses_legal_tags = chooses_legal_tags
        self._options = options
        self._tokenizer = options.packing.tokenizer
        self.predict = share_graph(
            create_label_predictor(model, CLASSIFICATION)
        )
        # Both signatures call the same graph.
        self.tag_words = share_graph(self._tag_words)

    def tag(self, text: tf.Tensor) -> Tensors:
        """Returns the words of texts, string [N], and the tag of each word."""
        return self.tag_words(separate_words(text))

    def _tag_words(self, text: tf.Tensor) -> Tensors:
        """Tags the words of each text, which white space separates."""
        words, windows, word_positions = cut_texts(
            text, self._tokenizer, self._options.max_seq_length
        )
        outputs = batching_graph.call_in_batches(
            functools.partial(self._predict_words, windows, word_positions),
            tf.size(windows.text_indices),
            self._options.predict_batch_size,
        )
        probabilities = outputs["probabilities"]
        tag_ids = self._choose_tags(words, probabilities)
        value_of_word = {
            "tags": tf.gather(self._labels, tag_ids),
            "probabilities": tf.gather(probabilities, tag_ids, batch_dims=1),
        }
        ragged = {
            name: words.with_flat_values(values)
            for name, values in value_of_word.items()
        }
        return {
            **batching_graph.to_padded({"words": words, **ragged}),
            "num_words": tf.cast(words.row_lengths(), tf.int32),
        }

    def _predict_words(
        self,
        windows: Windows,
        word_positions: tf.Tensor,
        start: tf.Tensor,
        end: tf.Tensor,
    ) -> Tensors:
        """Returns the tag probabilities of the words that some windows tag.

        These are the windows `start` to `end` - 1.
        """
        packed = windows.slice(start, end).pack(
            self._tokenizer, self._options.max_seq_length
        )
        outputs = self.predict(trim_batch(packed, 1))
        # A row of `word_positions` is of one word: the window that tags it, and
        # its position in the window. The rows are sorted by window, so the
        # words of windows `start` to `end` - 1 are the adjacent rows
        # `start_row` to `end_row` - 1.
        bounds = tf.cast(tf.stack([start, end]), tf.int64)
        start_row, end_row = tf.unstack(
            tf.searchsorted(word_positions[:, 0], bounds)
        )
        shift = tf.stack([bounds[0], 0])
        selected = word_positions[start_row:end_row] - shift
        return {
            "probabilities": tf.gather_nd(outputs["probabilities"], selected)
        }

    def _choose_tags(
        self, words: tf.RaggedTensor, probabilities: tf.Tensor
    ) -> tf.Tensor:
        """Returns the index of the tag of each word."""
        if not self._chooses_legal_tags:
            return tf.argmax(probabilities, -1)
        check = batching_graph.assert_little_padding(words.row_lengths())
        with tf.control_dependencies([check]):
            ragged = words.with_flat_values(tf.identity(probabilities))
        return decode_legal_tags(ragged, self._labels)
