"""WordPieces as bytes, in the order of a vocabulary."""

from data.pretraining.encoded_vocabulary import EncodedVocabulary
from data.text.tokenization import REQUIRED_TOKENS


def test_random_words_are_those_of_googles_ordered_dict():
    """Each word of the vocabulary once, in the order of its first line."""
    names = [*REQUIRED_TOKENS, "un", "##want", "##ed", "b", "a", "b"]
    vocab = {name: index for index, name in enumerate(names)}
    assert [*vocab] == names[:-1]
    assert vocab["b"] == 9
    vocabulary = EncodedVocabulary(vocab)
    assert vocabulary.encoded_ids == [vocabulary[name] for name in names[:-1]]
