"""The casing, the words and the configuration beside a new vocabulary."""

import pytest

import modeling
from files.json_files import write_json
from tools.vocabulary.vocabulary_config import VocabularyConfig
from tools.vocabulary.vocabulary_stages import (
    choose_casing_file,
    count_words_of_files,
    print_extension,
    write_configuration,
    write_vocabulary,
)


def create_config(folder, **flags):
    """Returns the flags of a command that writes to a folder."""
    output_file = str(folder / "vocab.txt")
    return VocabularyConfig(
        input_file="a.txt", output_file=output_file, **flags
    )


def test_a_folder_gets_a_file_that_states_the_casing(tmp_path):
    path = choose_casing_file(create_config(tmp_path))
    assert path == str(tmp_path / "tokenizer_config.json")


def test_a_file_that_states_the_casing_stays(tmp_path):
    write_json(tmp_path / "tokenizer_config.json", {"do_lower_case": True})
    assert choose_casing_file(create_config(tmp_path)) is None


def test_a_file_that_states_another_casing_is_named(tmp_path):
    write_json(tmp_path / "tokenizer_config.json", {"do_lower_case": True})
    with pytest.raises(ValueError, match=r"tokenizer_config\.json"):
        choose_casing_file(create_config(tmp_path, do_lower_case=False))


def test_words_of_all_files_are_counted_and_broken_bytes_dropped(
    tmp_path, caplog
):
    (tmp_path / "a.txt").write_bytes(b"Boat \xff boat")
    (tmp_path / "b.txt").write_bytes(b"river boat")
    paths = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    counts = count_words_of_files(paths, do_lower_case=True)
    assert (counts["boat"], counts["river"]) == (3, 1)
    (warning,) = caplog.messages
    assert "a.txt: dropped 1 bytes" in warning


def test_an_extended_vocabulary_keeps_its_ids(tmp_path, capsys):
    old_vocab = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    old_vocab += ["b", "##o", "##a", "##t"]
    config = create_config(tmp_path, num_new_words=1)
    vocab = write_vocabulary(config, old_vocab, {"boat": 9})
    assert vocab == [old_vocab[0], "boat", *old_vocab[2:]]
    assert (tmp_path / "vocab.txt").read_text().split() == vocab
    print_extension(old_vocab, vocab, {"boat": 9})
    assert "9 WordPieces instead of 36" in capsys.readouterr().out


def test_the_configuration_has_the_size_of_the_vocabulary(tmp_path):
    write_configuration(str(tmp_path), 300)
    config = modeling.load_config(str(tmp_path / "bert_config.json"))
    assert config == modeling.BertConfig(vocab_size=300)


def test_a_configuration_of_the_user_stays(tmp_path, caplog):
    path = tmp_path / "bert_config.json"
    write_json(path, {"vocab_size": 77})
    before = path.read_bytes()
    write_configuration(str(tmp_path), 300)
    assert path.read_bytes() == before
    assert "It is 77" in caplog.text
