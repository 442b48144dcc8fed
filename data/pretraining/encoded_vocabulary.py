"""Encodes WordPieces as bytes.

A WordPiece is represented by the bytes that encode its id in a TFRecord. The
record of an instance is then created by joining the bytes of its WordPieces.
"""

from collections.abc import Mapping

from data.io import tf_examples


class Continuation(bytes):
    """A WordPiece that continues the same word as the WordPiece before it."""


class EncodedVocabulary(dict[str, bytes]):
    r"""Maps each WordPiece of a vocabulary to the bytes that encode its id.

    Examples:
        >>> vocabulary = EncodedVocabulary({"the": 7, "##s": 300})
        >>> vocabulary.encoded_ids
        [b'\x07', b'\xac\x02']
        >>> isinstance(vocabulary["##s"], Continuation)
        True

    Args:
        vocab: {WordPiece: id}.

    Attributes:
        encoded_ids: the encoded ids of all WordPieces, in the vocabulary's
            order.
    """

    def __init__(self, vocab: Mapping[str, int]) -> None:
        for token, token_id in vocab.items():
            code = tf_examples.encode_varint(token_id)
            self[token] = Continuation(code) if token[:2] == "##" else code
        self.encoded_ids = list(self.values())
