"""Documents of text files: their ends, their counts and their WordPieces."""

import zlib

import pytest

from data.io import tf_examples
from data.pretraining.documents import (
    Continuation,
    DocumentReader,
    EncodedVocabulary,
    LineRange,
    TextEncoder,
)
from data.pretraining.pretraining_options import InstanceOptions
from data.text.vocabulary_files import REQUIRED_TOKENS

WORDS = ["a", "b", "c", "##d"]


@pytest.fixture
def encoder(tmp_path):
    """A TextEncoder whose WordPieces are single letters."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(["[UNK]", *WORDS]) + "\n")
    return TextEncoder(InstanceOptions(vocab_file=str(path)))


@pytest.fixture
def read_texts(encoder, tmp_path):
    """A function that reads texts of files, and returns words and counts."""

    def read_texts(*texts, is_cut=False, **options):
        line_ranges = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{number}.txt"
            path.write_bytes(text)
            line_ranges.append(LineRange(str(path), is_cut=is_cut))
        names = {code: name for name, code in encoder.vocabulary.items()}
        reader = DocumentReader(encoder)
        documents = [
            [" ".join(map(names.get, sentence)) for sentence in document]
            for document in reader.read(line_ranges, **options)
        ]
        return documents, reader.counts

    return read_texts


def test_a_blank_line_ends_a_document(read_texts):
    documents, counts = read_texts(b"a b\nC\n\n \n\nad x\n")
    assert documents == [["a b", "c"], ["a ##d [UNK]"]]
    assert counts == {
        "num_documents": 2,
        "num_sentences": 3,
        "num_tokens": 6,
        "num_unknown": 1,
        "num_dropped_bytes": 0,
    }


def test_a_document_goes_on_in_the_next_block_if_its_block_is_cut(read_texts):
    assert read_texts(b"a\n", b"b\n")[0] == [["a"], ["b"]]
    documents, counts = read_texts(b"a\n", b"b\n", is_cut=True)
    assert documents == [["a", "b"]]
    # The last range is cut too, so this document is counted with its end.
    assert counts["num_documents"] == 0


def test_a_long_document_becomes_several_but_counts_once(read_texts):
    documents, counts = read_texts(b"a b\nb c\nc\n\na\n", max_characters=6)
    assert documents == [["a b", "b c"], ["c"], ["a"]]
    assert counts["num_documents"] == 2


@pytest.mark.parametrize("text", [b"a b\nb c\n\na\n", b"a b c a\n\na\n"])
def test_a_document_counts_whose_last_piece_fills_up_at_its_end(
    read_texts, text
):
    documents, counts = read_texts(text, max_characters=6)
    assert len(documents) == 2
    assert counts["num_documents"] == 2


def test_the_text_decides_which_documents_are_wanted(read_texts):
    chosen = zlib.crc32(b"a\nb")
    documents, counts = read_texts(
        b"a\nb\n\nc\n", is_wanted=lambda checksum: checksum == chosen
    )
    assert documents == [["a", "b"]]
    assert counts["num_sentences"] == 2


def test_text_without_words_is_not_a_document(read_texts):
    documents, counts = read_texts(b"\x00\n\n\xff\xfe\n\na\n")
    assert documents == [["a"]]
    assert counts["num_documents"] == 1
    assert counts["num_dropped_bytes"] == 2


def test_random_words_are_those_of_googles_ordered_dict():
    """Each word of the vocabulary once, in the order of its first line."""
    names = [*REQUIRED_TOKENS, "un", "##want", "##ed", "b", "a", "b"]
    vocab = {name: index for index, name in enumerate(names)}
    assert [*vocab] == names[:-1]
    assert vocab["b"] == 9
    vocabulary = EncodedVocabulary(vocab)
    assert vocabulary.encoded_tokens == [
        vocabulary[name] for name in names[:-1]
    ]


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
