"""Creates the signatures of an encoder, which has no head: `embed`.

N = number of texts, T = WordPieces of the longest text, W = hidden size.
"""

import functools

import tensorflow as tf

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
from modeling.bert import BertModel

# If a padded output contains more values than this, at least a quarter of the
# values must not be padding. This number of float32 values needs 256 MiB.
_MAX_PADDING = 1 << 26


def create_embed_signatures(
    model: BertModel, head_settings: HeadSettings, options: ExportOptions
) -> ExportSignatures:
    """Returns the signatures of an encoder.

    The input of `embed` is `text`, string [N]. `embed` returns

        pooled_output    float32 [N, W], the output of the model's pooler
        mean_output      float32 [N, W], the mean over the text's tokens
        mean_normalized  float32 [N, W], the mean divided by its L2 norm
        sequence_output  float32 [N, T, W], outputs of the last block, 0 after
                         the end of a text
        tokens           string [N, T], the WordPieces with [CLS] and [SEP], ""
                         after the end of a text
        lengths          int32 [N], the number of tokens

    Args:
        model: model to export.
        head_settings: settings of the head. The export of an encoder needs
            none.
        options: texts longer than `max_seq_length` are cut.
    """
    embedder = _TextEmbedder(model, options)
    embed = Signature(embedder.embed, text_inputs("text"))
    return ExportSignatures(embedder.encode, {"embed": embed})


class _TextEmbedder:
    """Computes the vectors of texts with an encoder.

    Attributes:
        encode: function of the signature `ids`.
    """

    def __init__(self, model: BertModel, options: ExportOptions) -> None:
        self._model = model
        self._options = options
        self._packing = options.packing
        self.encode = share_graph(self._encode)

    def embed(self, text: tf.Tensor) -> Tensors:
        """Returns the vectors of texts, string [N]."""
        (tokens,) = self._packing.tokenize(text)
        # An input also contains [CLS] and [SEP].
        lengths = tf.cast(tokens.row_lengths(), tf.int32) + 2
        lengths = tf.minimum(lengths, self._options.max_seq_length)
        longest = tf.reduce_max(tf.concat([lengths, [1]], 0))
        width = self._model.config.hidden_size
        check = batching_graph.assert_little_padding(
            lengths, _MAX_PADDING // width
        )
        # The network runs only after this check, because the number of its
        # batches depends on `num_texts`, which waits for the check.
        with tf.control_dependencies([check]):
            num_texts = tf.size(lengths)
        outputs = batching_graph.call_in_batches(
            functools.partial(self._embed_rows, tokens, longest),
            num_texts,
            self._options.predict_batch_size,
        )
        return {**outputs, "lengths": lengths}

    def _encode(self, features: Tensors) -> Tensors:
        outputs = self._model(features, training=False)
        return {
            name: tf.cast(outputs[name], tf.float32)
            for name in ("sequence_output", "pooled_output")
        }

    def _embed_rows(
        self,
        tokens: tf.RaggedTensor,
        longest: tf.Tensor,
        start: tf.Tensor,
        end: tf.Tensor,
    ) -> Tensors:
        """Returns the outputs for texts `start` to `end` - 1.

        The outputs are padded to `longest` WordPieces.
        """
        packed = self._packing.pack(tokens[start:end])
        features = {name: ids[:, :longest] for name, ids in packed.items()}
        outputs = self.encode(features)
        is_real = features["input_mask"] > 0
        vocab = self._packing.tokenizer.vocab
        input_tokens = tf.gather(vocab, features["input_ids"])
        sequence = tf.where(
            is_real[:, :, None], outputs["sequence_output"], 0.0
        )
        num_wordpieces = tf.reduce_sum(tf.cast(is_real, tf.float32), 1)
        mean = tf.reduce_sum(sequence, 1) / num_wordpieces[:, None]
        return {
            "pooled_output": outputs["pooled_output"],
            "mean_output": mean,
            "mean_normalized": tf.math.l2_normalize(mean, -1, 1e-24),
            "sequence_output": sequence,
            "tokens": tf.where(is_real, input_tokens, ""),
        }
