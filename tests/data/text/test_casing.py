"""Which models lower-case text: by their files, names and vocabularies."""

import contextlib
import itertools
import json
import types

import pytest

from data.text import casing, tokenization
from tests import golden
from tests.script_runner import SAMPLES


@pytest.mark.parametrize(
    ("do_lower_case", "path", "wrong"),
    [
        (True, "x/uncased_L-12_H-768_A-12/bert_model.ckpt", False),
        (False, "x/uncased_L-12_H-768_A-12/bert_model.ckpt", True),
        (False, "x/chinese_L-12_H-768_A-12/bert_model.ckpt", True),
        (True, "x/cased_L-24_H-1024_A-16/bert_model.ckpt", True),
        # The folder alone, as --weights may name it.
        (True, "cased_L-12_H-768_A-12/", True),
        (False, "x/multi_cased_L-12_H-768_A-12/bert_model.ckpt", False),
        (True, "cased_L-12_H-768_A-12/mine", False),
        (False, None, False),
    ],
)
def test_casing_against_the_checkpoints_name(do_lower_case, path, wrong):
    error = pytest.raises(ValueError, match="--do_lower_case")
    with error if wrong else contextlib.nullcontext():
        casing.validate_case_matches_checkpoint(do_lower_case, path)


# Words enough for a verdict, and few with capitals.
UNCASED = [
    "".join(word) for word in itertools.product("abcdefghijklmnopqr", repeat=3)
]


@pytest.mark.parametrize(
    "name, verdicts",
    [
        ("cased.txt", [False]),
        ("multilingual_cased.txt", [False]),
        ("uncased.txt", [True]),
        ("chinese.txt", [True, None]),
    ],
)
def test_released_vocabularies(name, verdicts):
    path = golden.shared(f"data/vocab/{name}")
    tokens = tokenization.FullTokenizer(path).tokens
    assert casing.casing_of(tokens) in verdicts


def test_vocabularies_that_say_nothing():
    # Small, or between the two.
    assert casing.casing_of(["a", "b", "[CLS]", "[UNUSED]"]) is None
    assert casing.casing_of(UNCASED + ["A"] * 20) is None
    assert casing.casing_of(UNCASED + ["[A]"] * 2000) is True
    assert casing.casing_of(UNCASED + ["A"] * 400) is False


def test_a_conversion_judges_as_a_run_does(create_tokenizer):
    # Such as a word that was added to an uncased vocabulary.
    assert create_tokenizer([*UNCASED, "DNA"], None).do_lower_case is True


def load(folder, words=(), files=None, **flags):
    """Returns the casing that a command takes; `flags` are those given.

    The vocabulary is that of the samples, and `words`. `files` are settings to
    write, {path in the folder: contents}.
    """
    vocab_file = folder / "vocab.txt"
    tokens = (SAMPLES / "vocab.txt").read_text("utf-8").splitlines()
    vocab_file.write_text("\n".join([*tokens, *words]), "utf-8")
    for name, contents in (files or {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(contents))
    options = {"do_lower_case": True, "weights": None} | flags
    return tokenization.load_tokenizer(
        types.SimpleNamespace(
            **options, vocab_file=vocab_file, given_flags=flags
        )
    ).do_lower_case


CASED = [f"Word{number}" for number in range(200)]


def test_a_cased_vocabulary_asks_for_the_flag(tmp_path):
    with pytest.raises(ValueError, match="--do_lower_case"):
        load(tmp_path, CASED)
    assert load(tmp_path, CASED, do_lower_case=False) is False
    # Given, it holds.
    assert load(tmp_path, CASED, do_lower_case=True) is True


@pytest.mark.parametrize("words", [[], CASED], ids=["small", "cased"])
@pytest.mark.parametrize(
    "path, weights",
    [
        ("tokenizer_config.json", None),
        ("model/tokenizer_config.json", "model"),
        ("model/tokenizer_config.json", "model/bert_model.ckpt"),
    ],
)
def test_what_the_folder_says_is_taken(tmp_path, words, path, weights):
    flags = {"weights": str(tmp_path / weights)} if weights else {}
    for stated in (False, True):
        args = tmp_path, words, {path: {"do_lower_case": stated}}
        assert load(*args, **flags) is stated
        assert load(*args, **flags, do_lower_case=stated) is stated
        with pytest.raises(ValueError, match="tokenizer_config.json"):
            load(*args, **flags, do_lower_case=not stated)


def test_two_folders_that_say_different_things(tmp_path):
    files = {
        "tokenizer_config.json": {"do_lower_case": True},
        "model/tokenizer_config.json": {"do_lower_case": False},
    }
    with pytest.raises(ValueError, match="model/tokenizer_config.json"):
        load(tmp_path, files=files, weights=str(tmp_path / "model"))


@pytest.mark.parametrize(
    "settings, culprit",
    [
        ({"do_lower_case": "yes"}, "do_lower_case"),
        ({"do_lower_case": True, "strip_accents": False}, "strip_accents"),
        # transformers lower-cases where nothing is said.
        ({"strip_accents": False}, "strip_accents"),
        ({"tokenize_chinese_chars": False}, "tokenize_chinese_chars"),
        # Japanese models.
        ({"word_tokenizer_type": "mecab"}, "word_tokenizer_type"),
        ({"tokenizer_class": "RoFormerTokenizerFast"}, "tokenizer_class"),
        ({"cls_token": {"content": "<s>"}}, "cls_token"),
    ],
)
def test_text_that_is_cut_in_other_ways_is_refused(tmp_path, settings, culprit):
    with pytest.raises(ValueError, match=f"tokenizer_config.json: `{culprit}"):
        load(tmp_path, files={"tokenizer_config.json": settings})


def test_another_tokenizer_is_refused(tmp_path, caplog):
    file = "special_tokens_map.json"
    with pytest.raises(ValueError, match=f"{file}: `sep_token"):
        load(tmp_path, files={file: {"sep_token": "</s>"}})
    (tmp_path / file).unlink()
    # As transformers 4 and 5 write them for BERT, and for networks that contain
    # a BERT.
    file = "tokenizer_config.json"
    for kind in (
        "BertTokenizerFast",
        "TokenizersBackend",
        "DPRReaderTokenizer",
    ):
        texts = {
            "tokenizer_class": kind,
            "cls_token": {"content": "[CLS]"},
            "sep_token": "[SEP]",
            "unk_token": None,
        }
        assert load(tmp_path, files={file: texts}) is True
    assert "tokenizer_class" not in caplog.text
    # A user's own class may return the same tokens.
    settings = {"tokenizer_class": "ClinicTokenizer"}
    assert load(tmp_path, files={file: settings}) is True
    assert "ClinicTokenizer" in caplog.text


@pytest.mark.parametrize("mark", ["\u2581", "\u0120"])
def test_a_vocabulary_without_wordpieces_is_refused(tmp_path, mark):
    # A few such words are in released vocabularies.
    assert load(tmp_path, [f"{mark}a"]) is True
    with pytest.raises(ValueError, match="200 words"):
        load(tmp_path, [f"{mark}word{n}" for n in range(200)])


def test_settings_that_say_nothing(tmp_path):
    for settings in ({}, {"do_lower_case": None, "strip_accents": None}):
        files = {"tokenizer_config.json": settings}
        assert load(tmp_path, files=files) is True
        assert casing.read_do_lower_case(tmp_path) is None


def test_a_tokenizer_json_says_what_its_neighbor_does_not(tmp_path):
    tokenizer = {"normalizer": {"type": "BertNormalizer", "lowercase": False}}
    files = {"tokenizer.json": tokenizer}
    # transformers reads tokenizer_config.json first.
    for more in ({}, {"tokenizer_config.json": {}}):
        files |= more
        assert load(tmp_path, files=files) is False
        with pytest.raises(ValueError, match="tokenizer.json"):
            load(tmp_path, files=files, do_lower_case=True)
    files["tokenizer_config.json"] = {"do_lower_case": True}
    assert load(tmp_path, files=files) is True
    # Of another kind of tokenizer.
    (tmp_path / "tokenizer_config.json").unlink()
    assert (
        load(tmp_path, files={"tokenizer.json": {"normalizer": None}}) is True
    )
