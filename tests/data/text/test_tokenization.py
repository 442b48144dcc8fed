"""The tokenizer against recordings, and against the paper's code."""

import gzip
import random

import pytest

from data.classification import classification_features
from data.classification.classification_examples import InputExample
from data.text import tokenization
from model_folders.reading.preset import Preset
from tests.support import golden
from tests.support.paths import ROOT
from tests.support.tokenizers import reference_tokenizer
from tests.support.tokenizers.tokenizer_cases import (
    ASSIGNED,
    load_recorded,
    random_strings,
)

VOCAB = ROOT / "tests/testdata/golden/vocab/uncased.txt"


@pytest.mark.parametrize("path", golden.path_params("tokenization/*.json.gz"))
@pytest.mark.parametrize("casing", ["uncased", "cased"])
def test_ids_are_those_that_were_recorded(path, casing):
    tokenizer, texts, recorded = load_recorded(path, casing)
    for text, ids in zip(texts, recorded, strict=True):
        tokens = tokenizer.tokenize(text)
        assert tokenizer.convert_tokens_to_ids(tokens) == ids, text


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_the_tokenizer_splits_random_text_as_the_reference_does(do_lower_case):
    tokenizer = tokenization.FullTokenizer(VOCAB, do_lower_case)
    for text in random_strings(3000, seed=1):
        assert tokenizer.basic_tokenizer.tokenize(
            text
        ) == reference_tokenizer.basic_tokenize(text, do_lower_case)
        assert tokenizer.tokenize(text) == reference_tokenizer.tokenize(
            text, tokenizer.vocab, do_lower_case
        )


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_the_tokenizer_splits_every_code_point_as_the_reference_does(
    do_lower_case,
):
    tokenizer = tokenization.BasicTokenizer(do_lower_case)
    for char in ASSIGNED:
        text = f"a{char}b"
        assert tokenizer.tokenize(text) == reference_tokenizer.basic_tokenize(
            text, do_lower_case
        ), hex(ord(char))


# As in Google's own test.
PIECES = [
    "[UNK]",
    "[CLS]",
    "want",
    "##want",
    "##ed",
    "wa",
    "un",
    "runn",
    "##ing",
    ",",
]


def test_a_text_becomes_wordpieces_and_ids_and_back(create_tokenizer):
    tokenizer = create_tokenizer(PIECES)
    tokens = tokenizer.tokenize("UNwant\u00e9d,running")
    assert tokens == ["un", "##want", "##ed", ",", "runn", "##ing"]
    ids = tokenizer.convert_tokens_to_ids(tokens)
    assert ids == [6, 3, 4, 9, 7, 8]
    assert tokenizer.convert_ids_to_tokens(ids) == tokens


def test_a_word_of_more_than_200_letters_is_unknown(create_tokenizer):
    tokenizer = create_tokenizer(PIECES)
    assert tokenizer.tokenize("want" * 50) == ["want"] + ["##want"] * 49
    assert tokenizer.tokenize("want" * 50 + "w") == ["[UNK]"]


def test_calling_the_tokenizer_returns_the_features_of_a_run():
    words = ROOT / "examples/samples/vocab.txt"
    tokenizer = tokenization.FullTokenizer(words, do_lower_case=True)
    texts = ["The boat left at noon, and nobody saw it.", "", "Marré"]
    pairs = ["It sails again on the next morning.", "", "boats " * 9]
    for seconds in (None, pairs):
        batch = tokenizer(texts, seconds, max_length=12)
        for row, text in enumerate(texts):
            second = seconds and seconds[row]
            example_features = classification_features.convert_single_example(
                9, InputExample("", text, second, "0"), ["0"], 12, tokenizer
            )
            for name, values in batch.items():
                assert values.dtype == "int32"
                width = values.shape[1]
                expected = getattr(example_features, name)
                assert [*values[row]] == expected[:width], name
                assert not any(expected[width:])
    one = tokenizer("a boat", "a lamp")
    assert one["segment_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 1]]


def test_a_vocabulary_without_a_required_token_is_refused(create_tokenizer):
    tokenizer = create_tokenizer(["[CLS]", "[SEP]", "a"])
    with pytest.raises(ValueError, match=r"\[MASK\], \[UNK\] not found in 3"):
        tokenizer.vocabulary.check_tokens()


@pytest.mark.parametrize(
    ("lines", "vocab_size", "message"),
    [
        ("[CLS] [SEP] [MASK] [UNK] a", 4, "larger .* 5 .* vocab_size is 4"),
        # An empty line before a WordPiece counts.
        ("[CLS] [SEP] [MASK] [UNK]  a", 5, "larger .* 6 .* vocab_size is 5"),
    ],
)
def test_a_vocabulary_that_is_larger_than_the_model_is_refused(
    create_tokenizer, lines, vocab_size, message
):
    tokenizer = create_tokenizer(lines.split(" "))
    with pytest.raises(ValueError, match=f"{tokenizer.vocab_file}.*{message}"):
        tokenizer.vocabulary.check_size(vocab_size)


@pytest.mark.parametrize("end", ["", "  "], ids=["whole", "empty lines after"])
def test_a_vocabulary_of_the_models_size_fits(create_tokenizer, end):
    lines = f"[CLS] [SEP] [MASK] [UNK] a{end}".split(" ")
    create_tokenizer(lines).vocabulary.check_size(5)


def test_a_new_model_has_at_most_twice_the_rows():
    num_tokens = len(tokenization.FullTokenizer(VOCAB).tokens)
    tokenization.load_tokenizer(VOCAB, True, None, 2 * num_tokens)
    too_many = 2 * num_tokens + 1
    with pytest.raises(ValueError, match="368 WordPieces, but vocab_size"):
        tokenization.load_tokenizer(VOCAB, True, None, too_many)
    tokenization.load_tokenizer(VOCAB, True, Preset("."), too_many)


def test_repeated_and_empty_lines_have_the_ids_of_googles_tokenizer(
    create_tokenizer, caplog
):
    lines = [
        "[PAD]",
        "a",
        "[CLS]",
        "[SEP]",
        "b",
        "[MASK]",
        "[UNK]",
        "a",
        "",
        "[CLS]",
        "##a",
    ]
    tokenizer = create_tokenizer(lines)
    # Google's code: an ordered dict, in which a later line overwrites.
    expected = {}
    for index, line in enumerate(lines):
        expected[line] = index
    assert [*tokenizer.vocab.items()] == [*expected.items()]
    tokens = ["[CLS]", *tokenizer.tokenize("aa b")]
    assert tokenizer.convert_tokens_to_ids(tokens) == [9, 7, 10, 4]
    tokenizer.vocabulary.check_size(14)
    (smaller,) = caplog.messages
    assert "11 WordPieces" in smaller


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[PAD]\r[UNK]\r", "carriage returns"),
        ("[PAD]\n[UNK]\n".encode("utf-16"), "UTF-16"),
    ],
)
def test_a_vocabulary_in_other_lines_is_named(tmp_path, content, message):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"vocab.txt.*{message}"):
        tokenization.FullTokenizer(path)
    path.write_bytes("[PAD]\n[UNK]\n".encode("utf-8-sig"))
    tokenizer = tokenization.FullTokenizer(path)
    assert tokenizer.vocabulary.contents == b"[PAD]\n[UNK]\n"


@pytest.mark.parametrize("name", ["vocab.txt", "vocab.txt.gz"])
def test_the_vocabulary_is_kept_as_its_file_has_it(tmp_path, name):
    # A byte that is not UTF-8, white space, and no line end at the end.
    contents = b"[PAD]\r\n\xe2\x80\xa8\na\xffb \n\n##c\x0bd"
    write = gzip.open if name.endswith(".gz") else open
    with write(tmp_path / name, "wb") as file:
        file.write(contents)
    tokenizer = tokenization.FullTokenizer(tmp_path / name)
    assert tokenizer.vocabulary.contents == contents
    assert tokenizer.tokens == ["[PAD]", "", "ab", "", "##c\x0bd"]
    assert tokenizer.vocab["##c\x0bd"] == 4


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_tokenizing_only_the_beginning_gives_the_same_tokens(do_lower_case):
    """Words are never cut where reading stops; it stops soon."""
    tokenizer = tokenization.FullTokenizer(VOCAB, do_lower_case)
    rng = random.Random(1)
    chars = (
        "aB1'., \t\n\xa0\u2028\x85\u200b\u0301\u0391\u03a3\u0130\u6e2f\u3400"
    )
    for count in [5, 100, 9_000, 40_000] * 3:
        text = "".join(rng.choices(chars, k=count))
        whole = tokenizer.tokenize(text)
        for num_tokens in (0, 7, 3_000):
            beginning = tokenizer.tokenize_beginning(text, num_tokens)
            assert beginning == whole[: len(beginning)]
            assert len(beginning) >= min(num_tokens, len(whole))
            assert num_tokens == 3_000 or len(beginning) < 10_000
