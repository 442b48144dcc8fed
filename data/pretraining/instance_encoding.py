"""Encodes WordPieces as bytes, and pretraining instances as records.

All functions that create and mask instances pass WordPieces as `EncodedToken`.
"""

import random
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from absl import logging

from data.io import tfrecords
from data.pretraining.pretraining_options import InstanceOptions

# A WordPiece as the bytes that encode its id in a TFRecord. This is for speed:
# each WordPiece of the vocabulary is encoded once, and the record of an
# instance only joins the bytes of its WordPieces.
EncodedToken: TypeAlias = bytes


class Continuation(EncodedToken):
    """An encoded WordPiece such as ##s, which continues a word.

    Its type tells it from the first WordPiece of a word. So whole words are
    found without decoding any WordPiece.
    """


class EncodedVocabulary(dict[str, EncodedToken]):
    r"""Maps each WordPiece of a vocabulary to its EncodedToken.

    Examples:
        >>> vocabulary = EncodedVocabulary({"the": 7, "##s": 300})
        >>> vocabulary.encoded_tokens
        [b'\x07', b'\xac\x02']
        >>> isinstance(vocabulary["##s"], Continuation)
        True

    Args:
        vocab: {WordPiece: id}.

    Attributes:
        encoded_tokens: all WordPieces, encoded, in the vocabulary's order.
    """

    def __init__(self, vocab: Mapping[str, int]) -> None:
        for token, token_id in vocab.items():
            code = tfrecords.encode_varint(token_id)
            self[token] = Continuation(code) if token[:2] == "##" else code
        self.encoded_tokens = list(self.values())


class InstanceContext(NamedTuple):
    """The arguments that all functions share which create or mask instances.

    Attributes:
        vocabulary: the WordPieces, encoded.
        options: the lengths and probabilities.
        rng: generator of the random draws, in the order of Google's code.
    """

    vocabulary: EncodedVocabulary
    options: InstanceOptions
    rng: random.Random


class TrainingInstance(NamedTuple):
    """A pair of segments with masked WordPieces.

    Attributes:
        tokens: WordPieces after masking. Segment 0 ends with the first [SEP].
        b_start: index of the first WordPiece of segment 1.
        is_random_next: whether segment 1 was drawn at random.
        positions: the masked positions, in ascending order.
        labels: the original WordPieces at these positions.
    """

    tokens: list[EncodedToken]
    b_start: int
    is_random_next: bool
    positions: list[int]
    labels: list[EncodedToken]


def encode_instance(
    instance: TrainingInstance, options: InstanceOptions
) -> bytes:
    """Returns a record with the features of Google's code, padded with zeros.

    If the option `dynamic_masking` is on, the record contains no features whose
    names begin with "masked_lm_". Other options set the features' lengths.
    """
    num_pieces = len(instance.tokens)
    num_in_b = num_pieces - instance.b_start
    padding = bytes(options.max_seq_length - num_pieces)
    features: dict[str, tfrecords.Values] = {
        "input_ids": b"".join(instance.tokens) + padding,
        "input_mask": b"\1" * num_pieces + padding,
        "segment_ids": bytes(instance.b_start) + b"\1" * num_in_b + padding,
    }
    if not options.dynamic_masking:
        num_masked = len(instance.positions)
        num_left = options.max_predictions_per_seq - num_masked
        features["masked_lm_positions"] = instance.positions + [0] * num_left
        features["masked_lm_ids"] = b"".join(instance.labels) + bytes(num_left)
        features["masked_lm_weights"] = [1.0] * num_masked + [0.0] * num_left
    features["next_sentence_labels"] = bytes([instance.is_random_next])
    return tfrecords.encode_example(features)


class InstanceEncoder:
    """Encodes instances as records, counts them, and logs the first instance.

    Attributes:
        vocabulary: the WordPieces, to log an instance as text.
        options: the lengths of the records, and how the text was masked.
        num_instances: number of the instances encoded so far.
        num_pieces: number of their WordPieces, without padding.
    """

    def __init__(
        self, vocabulary: EncodedVocabulary, options: InstanceOptions
    ) -> None:
        self.vocabulary = vocabulary
        self.options = options
        self.num_instances = 0
        self.num_pieces = 0

    def encode_and_count(self, instance: TrainingInstance) -> bytes:
        """Returns the record of an instance, and counts its WordPieces."""
        if not self.num_instances:
            self._log_instance(instance)
        self.num_instances += 1
        self.num_pieces += len(instance.tokens)
        return encode_instance(instance, self.options)

    def _log_instance(self, instance: TrainingInstance) -> None:
        names = {code: name for name, code in self.vocabulary.items()}
        text = " ".join(names[token] for token in instance.tokens)
        logging.debug("*** Example ***\ntokens: %s", text)
