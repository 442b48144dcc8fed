"""The tokenizer files of Hugging Face's format."""

import json

import pytest

from data.text import tokenization
from model_folders.reading.preset import read_preset
from modeling import BertConfig, BertModel, save_huggingface
from tests.support.models import built
from tests.support.weights.huggingface_files import (
    CONFIG,
    NUM_POSITIONS,
    VOCAB_SIZE,
)

TOKENS = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]", "un", "##able", "é"]


def create_vocab(path, *more):
    tokens = [*TOKENS, *more]
    tokens += [f"[unused{index}]" for index in range(VOCAB_SIZE - len(tokens))]
    path.write_text("".join(f"{token}\n" for token in tokens), "utf-8")
    return path


@pytest.fixture
def bert():
    """An encoder to save."""
    return built(BertModel(BertConfig.from_dict(CONFIG)))


@pytest.mark.parametrize(
    ("more", "do_lower_case", "expected"),
    [
        (["<S>"], None, True),
        (["Un"], True, True),
        ([], False, False),
    ],
)
def test_a_tokenizer_goes_with_the_weights(
    tmp_path, bert, more, do_lower_case, expected
):
    vocab_file = create_vocab(tmp_path / "vocab.txt", *more)
    folder = tmp_path / "new"
    tokenizer = tokenization.FullTokenizer(vocab_file, do_lower_case)
    save_huggingface(bert, folder, tokenizer=tokenizer)
    assert (folder / "vocab.txt").read_bytes() == vocab_file.read_bytes()
    assert read_preset(folder).do_lower_case is expected
    config = json.loads((folder / "tokenizer_config.json").read_text())
    settings = {
        "do_lower_case": expected,
        "model_max_length": NUM_POSITIONS,
        "tokenizer_class": "BertTokenizer",
        "pad_token": "[PAD]",
    }
    assert config | settings == config
    assert json.loads((folder / "config.json").read_text())["pad_token_id"] == 4


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_tokenizer_json_tokenizes_as_the_project_does(
    tmp_path, bert, do_lower_case
):
    tokenizers = pytest.importorskip("tokenizers")
    vocab_file = create_vocab(tmp_path / "vocab.txt", "e", "Un", "日", "a")
    ours = tokenization.FullTokenizer(vocab_file, do_lower_case)
    save_huggingface(bert, tmp_path / "new", tokenizer=ours)
    path = str(tmp_path / "new/tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(path)
    text = f"Unable unable Un日un é É\u00a0e\u200b, {'a' * 150}"
    encoded = theirs.encode(text, "é")
    first, second = ours.tokenize(text), ours.tokenize("é")
    expected = ["[CLS]", *first, "[SEP]", *second, "[SEP]"]
    assert encoded.ids == ours.convert_tokens_to_ids(expected)
    assert encoded.type_ids[-2:] == [1, 1]


def test_transformers_counts_the_last_of_equal_lines_too(tmp_path, bert):
    lines = [*TOKENS, "a", "", "un", "[PAD]", "b"]
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("\n".join(lines) + "\n")
    ours = tokenization.FullTokenizer(vocab_file)
    save_huggingface(bert, tmp_path / "new", tokenizer=ours)
    # As transformers reads the file that it is copied to.
    written = (tmp_path / "new/vocab.txt").read_text("utf-8").splitlines()
    theirs = {token: index for index, token in enumerate(written)}
    assert theirs == ours.vocab
    config = json.loads((tmp_path / "new/config.json").read_text())
    assert config["pad_token_id"] == theirs["[PAD]"] == 11
    assert config["vocab_size"] == VOCAB_SIZE > len(lines)
    tokenizers = pytest.importorskip("tokenizers")
    path = str(tmp_path / "new/tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(path)
    text = "unable b un a"
    expected = ["[CLS]", *ours.tokenize(text), "[SEP]"]
    assert theirs.encode(text).ids == ours.convert_tokens_to_ids(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + "more\n", "is larger than the model: 25 WordPie"),
        (lambda text: text.replace("[PAD]", "pad"), r"\[PAD\] not"),
    ],
)
def test_a_vocabulary_of_another_model_is_refused(
    tmp_path, bert, change, message
):
    vocab_file = create_vocab(tmp_path / "vocab.txt")
    vocab_file.write_text(change(vocab_file.read_text("utf-8")), "utf-8")
    tokenizer = tokenization.FullTokenizer(vocab_file)
    with pytest.raises(ValueError, match=f"vocab.txt:? {message}"):
        save_huggingface(bert, tmp_path / "new", tokenizer=tokenizer)
    assert not (tmp_path / "new").exists()
