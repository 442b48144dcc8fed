"""WordPieces as bytes, in the order of a vocabulary."""

from data.io import tf_examples
from data.pretraining.encoded_vocabulary import (
    Continuation,
    EncodedVocabulary,
)
from data.text.tokenization import REQUIRED_TOKENS


def test_random_words_are_those_of_googles_ordered_dict():
    """Each word of the vocabulary once, in the order of its first line."""
    names = [*REQUIRED_TOKENS, "un", "##want", "##ed", "b", "a", "b"]
    vocab = {name: index for index, name in enumerate(names)}
    assert [*vocab] == names[:-1]
    assert vocab["b"] == 9
    vocabulary = EncodedVocabulary(vocab)
    assert vocabulary.encoded_ids == [vocabulary[name] for name in names[:-1]]


def test_a_wordpiece_is_the_bytes_of_its_id():
    vocabulary = EncodedVocabulary({"[PAD]": 0, "boat": 127, "##s": 300})
    assert vocabulary["[PAD]"] == b"\x00"
    assert vocabulary["boat"] == b"\x7f"
    # A varint has seven bits in a byte.
    assert vocabulary["##s"] == b"\xac\x02" == tf_examples.encode_varint(300)


def test_only_a_continuation_continues_a_word():
    vocabulary = EncodedVocabulary({"boat": 1, "##s": 2, "#": 3, "#x": 4})
    continues = {
        name: isinstance(code, Continuation)
        for name, code in vocabulary.items()
    }
    assert continues == {"boat": False, "##s": True, "#": False, "#x": False}
