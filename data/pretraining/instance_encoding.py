"""Encodes pretraining instances as records."""

from collections import Counter
from typing import NamedTuple

from absl import logging

from data.io import tf_examples
from data.pretraining.encoded_vocabulary import EncodedVocabulary
from data.pretraining.pretraining_options import InstanceOptions


class TrainingInstance(NamedTuple):
    """A pair of segments with masked WordPieces.

    Attributes:
        tokens: WordPieces after masking. Segment 0 ends with the first [SEP].
        b_start: index of the first WordPiece of segment 1.
        is_random_next: whether segment 1 was drawn at random.
        positions: the masked positions, in ascending order.
        labels: the original WordPieces at these positions.
    """

    tokens: list[bytes]
    b_start: int
    is_random_next: bool
    positions: list[int]
    labels: list[bytes]


def encode_instance(
    instance: TrainingInstance, options: InstanceOptions
) -> bytes:
    """Returns a record with the features of Google's code, padded with zeros.

    If the option `dynamic_masking` is on, the record contains no features whose
    names begin with "masked_lm_". Other options set the features' lengths.
    """
    num_tokens = len(instance.tokens)
    num_in_b = num_tokens - instance.b_start
    padding = bytes(options.max_seq_length - num_tokens)
    features: dict[str, tf_examples.Values] = {
        "input_ids": b"".join(instance.tokens) + padding,
        "input_mask": b"\1" * num_tokens + padding,
        "segment_ids": bytes(instance.b_start) + b"\1" * num_in_b + padding,
    }
    if not options.dynamic_masking:
        num_masked = len(instance.positions)
        num_left = options.max_predictions_per_seq - num_masked
        features["masked_lm_positions"] = instance.positions + [0] * num_left
        features["masked_lm_ids"] = b"".join(instance.labels) + bytes(num_left)
        features["masked_lm_weights"] = [1.0] * num_masked + [0.0] * num_left
    features["next_sentence_labels"] = bytes([instance.is_random_next])
    return tf_examples.encode_example(features)


class InstanceEncoder:
    """Encodes instances as records, counts them, and logs the first instance.

    Attributes:
        vocabulary: the WordPieces, to log an instance as text.
        options: the lengths of the records, and how the text was masked.
        counts: number of the instances encoded so far, "num_instances", and of
            their WordPieces, "num_pieces".
    """

    def __init__(
        self, vocabulary: EncodedVocabulary, options: InstanceOptions
    ) -> None:
        self.vocabulary = vocabulary
        self.options = options
        self.counts: Counter[str] = Counter()

    def encode_and_count(self, instance: TrainingInstance) -> bytes:
        """Returns the record of an instance, and adds it to `counts`."""
        if not self.counts["num_instances"]:
            self._log_instance(instance)
        self.counts["num_instances"] += 1
        self.counts["num_pieces"] += len(instance.tokens)
        return encode_instance(instance, self.options)

    def _log_instance(self, instance: TrainingInstance) -> None:
        names = {code: name for name, code in self.vocabulary.items()}
        text = " ".join(names[token] for token in instance.tokens)
        logging.debug("*** Example ***\ntokens: %s", text)
