"""extract_features.py's model over ids, and its batches.

B = batch, L = layers, T = length in WordPieces, W = hidden size.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from data.classification.features import (
    ClassificationFeatures,
    InputExample,
    convert_single_example,
)
from data.io import tfrecords
from data.text.tokenization import FullTokenizer
from modeling import BertModel
from serving import export


def create_batches(
    examples: Iterable[InputExample],
    tokenizer: FullTokenizer,
    max_seq_length: int,
    batch_size: int,
    trim: bool,
) -> Iterator[dict[str, tf.Tensor]]:
    """Yields the features of up to `batch_size` examples, int32 [B, T] each.

    Args:
        examples: their label is "0".
        tokenizer: FullTokenizer.
        max_seq_length: WordPieces of an example; longer ones are cut.
        batch_size: maximum B.
        trim: whether to cut batches to their longest example; see
            tfrecords.trim_padding.
    """

    def features_of(
        batch: Sequence[ClassificationFeatures],
    ) -> dict[str, tf.Tensor]:
        features = {
            name: tf.constant([getattr(f, name) for f in batch], tf.int32)
            for name in export.INPUT_NAMES
        }
        return tfrecords.trim_padding(features) if trim else features

    batch = []
    for index, example in enumerate(examples):
        batch.append(
            convert_single_example(
                index, example, ["0"], max_seq_length, tokenizer
            )
        )
        if len(batch) == batch_size:
            yield features_of(batch)
            batch = []
    if batch:
        yield features_of(batch)


class TokenFeatures(keras.Model):
    """Computes the vectors that extract_features.py writes.

    Args:
        bert: a built BertModel.
        layer_names: numbers of blocks, or the name of one combination:
            "embeddings", "last", "second_to_last", "sum_last_four",
            "concat_last_four" or "sum_all".
        block_weights: list of float, weights of the blocks in a sum.

    Returns:
        float32 [B, L, T, W], and the pooled output, [B, W].
    """

    def __init__(
        self,
        bert: BertModel,
        layer_names: Sequence[int | str],
        block_weights: Sequence[float],
    ) -> None:
        super().__init__(dtype=bert.dtype_policy)
        self.bert = bert
        self.layer_names = layer_names
        self.block_weights = block_weights

    def call(
        self, features: dict[str, tf.Tensor], training: bool = False
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Encodes a batch; see the class."""
        inputs = [features[name] for name in export.INPUT_NAMES]
        outputs = self.bert(*inputs, training=training)
        layers = [self._combine(name, outputs) for name in self.layer_names]
        return (
            tf.cast(tf.stack(layers, axis=1), tf.float32),
            tf.cast(outputs["pooled_output"], tf.float32),
        )

    def _combine(self, name: int | str, outputs: dict[str, Any]) -> tf.Tensor:
        blocks = outputs["all_encoder_layers"]
        if isinstance(name, int):
            return blocks[name]
        if name == "embeddings":
            return outputs["embedding_output"]
        if name in ("last", "second_to_last"):
            return blocks[-1 if name == "last" else -2]
        if name == "concat_last_four":
            return tf.concat(blocks[-4:], axis=-1)
        blocks = blocks if name == "sum_all" else blocks[-4:]
        return tf.add_n(
            [
                tf.cast(weight, block.dtype) * block
                for weight, block in zip(
                    self.block_weights, blocks, strict=True
                )
            ]
        )
