"""The statements of a tokenizer's files, and tokenizers that are refused."""

import json

import pytest

from model_folders.formats.huggingface_tokenizer import read_stated_casing
from model_folders.reading.preset import read_preset


def read_casing(folder, **files):
    """Writes {name without .json: contents}, and reads the folder."""
    for name, contents in files.items():
        (folder / f"{name}.json").write_text(json.dumps(contents))
    return read_preset(folder).stated_casing.get("do_lower_case")


@pytest.mark.parametrize(
    ("settings", "culprit"),
    [
        ({"do_lower_case": "yes"}, "do_lower_case"),
        ({"do_lower_case": 1}, "do_lower_case"),
        ({"do_lower_case": True, "strip_accents": False}, "strip_accents"),
        # transformers lower-cases where nothing is said.
        ({"strip_accents": False}, "strip_accents"),
        ({"tokenize_chinese_chars": False}, "tokenize_chinese_chars"),
        ({"never_split": ["[user]"]}, "never_split"),
        # Japanese models.
        ({"word_tokenizer_type": "mecab"}, "word_tokenizer_type"),
        ({"cls_token": {"content": "<s>"}}, "cls_token"),
    ],
)
def test_text_that_is_cut_in_other_ways_is_refused(tmp_path, settings, culprit):
    with pytest.raises(ValueError, match=f"tokenizer_config.json: `{culprit}"):
        read_casing(tmp_path, tokenizer_config=settings)


def test_other_special_words_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"map\.json: `sep_token"):
        read_casing(tmp_path, special_tokens_map={"sep_token": "</s>"})


@pytest.mark.parametrize("kind", ["BertTokenizerFast", "TokenizersBackend"])
def test_tokenizers_as_transformers_writes_them_are_read(
    tmp_path, caplog, kind
):
    """The files are as transformers 4 and 5 write them for BERT."""
    texts = {
        "tokenizer_class": kind,
        "cls_token": {"content": "[CLS]"},
        "sep_token": "[SEP]",
        "unk_token": None,
    }
    assert read_casing(tmp_path, tokenizer_config=texts) is None
    assert not caplog.text


@pytest.mark.parametrize("kind", ["RoFormerTokenizer", "ClinicTokenizer"])
def test_a_tokenizer_of_another_class_is_warned_of(tmp_path, caplog, kind):
    """Another class may return the same tokens, so it is no error."""
    read_casing(tmp_path, tokenizer_config={"tokenizer_class": kind})
    assert kind in caplog.text


CASED = {"normalizer": {"type": "BertNormalizer", "lowercase": False}}


@pytest.mark.parametrize("others", [{}, {"tokenizer_config": {}}])
def test_a_tokenizer_json_says_what_its_neighbor_does_not(
    tmp_path, caplog, others
):
    assert read_casing(tmp_path, tokenizer=CASED, **others) is False
    assert not caplog.text


@pytest.fixture
def contradicting_casing(tmp_path):
    """What is read of a folder in which two files contradict each other."""
    config = {"do_lower_case": True}
    return read_casing(tmp_path, tokenizer=CASED, tokenizer_config=config)


def test_tokenizer_config_json_is_read_first(contradicting_casing, tmp_path):
    """Transformers reads the files in the same order."""
    assert contradicting_casing is True
    assert read_stated_casing(tmp_path)["file"].endswith(
        "tokenizer_config.json"
    )


@pytest.mark.parametrize("name", ["tokenizer_config.json", "tokenizer.json"])
def test_a_warning_names_files_that_contradict_each_other(
    tmp_path, caplog, name
):
    config = {"do_lower_case": True}
    read_casing(tmp_path, tokenizer=CASED, tokenizer_config=config)
    (message,) = caplog.messages
    assert str(tmp_path / name) in message


def test_a_tokenizer_json_without_a_normalizer_states_no_casing(tmp_path):
    assert read_casing(tmp_path, tokenizer={"normalizer": None}) is None


FIVE = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.mark.parametrize(
    "files",
    [
        {"added_tokens": {"[E1]": 1600}},
        {"special_tokens_map": {"additional_special_tokens": ["[E1]"]}},
        {"tokenizer_config": {"extra_special_tokens": ["[E1]"]}},
        {
            "tokenizer_config": {
                "added_tokens_decoder": {"9": {"content": "[E1]"}}
            }
        },
        {"tokenizer": {"added_tokens": [{"id": 9, "content": "[E1]"}]}},
    ],
)
def test_special_words_of_a_model_are_named_once(tmp_path, caplog, files):
    five = {str(index): {"content": token} for index, token in enumerate(FIVE)}
    read_casing(tmp_path, tokenizer_config={"added_tokens_decoder": five})
    assert not caplog.text
    for _ in range(2):
        read_casing(tmp_path, **files)
    (message,) = caplog.messages
    assert "[E1]" in message
    assert "[CLS]" not in message
