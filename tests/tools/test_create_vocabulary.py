"""Vocabularies of a text, and new words from a text to more pretraining."""

import collections

import numpy as np
import pytest

import modeling
from data.text import tokenization, vocabulary_learning
from model_folders.reading.preset import read_preset
from terminal import progress
from tests.support import golden, script_runner
from tests.support.checkpoints import read_checkpoint
from tests.support.paths import ROOT, SAMPLES
from tests.support.script_runner import split_flags
from tests.support.tokenizers.reference_tokenizer import wordpiece

CORPUS = ROOT / "tests/testdata/golden/pretraining_data/corpus"
VOCAB = SAMPLES / "vocab.txt"
WORDS = "bert/embeddings/word_embeddings"
BIAS = "cls/predictions/output_bias"
SCRIPT = "tools.create_vocabulary"
FLAGS = {"input_file": CORPUS / "harbor.txt", "vocab_size": 400}
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def read_vocab(path):
    """Returns the tokens of a vocabulary."""
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory):
    """(folder of vocabularies of one corpus, the result of the first).

    `again.txt` has the flags of `vocab.txt`. In `cased` is one of cased text.
    """
    folder = tmp_path_factory.mktemp("made")
    (folder / "cased").mkdir()
    cased = {"output_file": "cased/vocab.txt", "do_lower_case": False}
    changes = (
        {"output_file": "vocab.txt"},
        {"output_file": "again.txt"},
        cased | {"num_unused": 3},
    )
    done, *_ = script_runner.run_each(SCRIPT, folder, FLAGS, changes)
    return folder, done


def test_special_tokens_stand_as_in_the_released_uncased_vocabulary(
    vocabularies,
):
    folder, _ = vocabularies
    vocab = read_vocab(folder / "vocab.txt")
    assert vocab[:2] == ["[PAD]", "[unused0]"]
    assert vocab[99:104] == ["[unused98]", *SPECIAL]


def test_fewer_unused_tokens_stand_before_the_special_ones(vocabularies):
    folder, _ = vocabularies
    unused = [f"[unused{number}]" for number in range(3)]
    cased = read_vocab(folder / "cased/vocab.txt")
    assert cased[:8] == ["[PAD]", *unused, *SPECIAL]


def test_a_vocabulary_has_at_most_vocab_size_different_wordpieces(vocabularies):
    folder, done = vocabularies
    vocab = read_vocab(folder / "vocab.txt")
    assert len(vocab) == len(set(vocab)) <= 400
    assert f"{len(vocab)} WordPieces" in done.stdout


def test_a_vocabulary_covers_its_own_corpus(vocabularies):
    folder, _ = vocabularies
    tokenizer = tokenization.FullTokenizer(folder / "vocab.txt")
    tokenizer.vocabulary.check_tokens()
    tokenizer.vocabulary.check_size(len(tokenizer.tokens))
    text = (CORPUS / "harbor.txt").read_text()
    assert "[UNK]" not in tokenizer.tokenize(text)
    assert "keeper" in tokenizer.tokens  # a frequent word is whole


def test_only_a_cased_vocabulary_has_capitals(vocabularies):
    folder, _ = vocabularies
    learned = read_vocab(folder / "vocab.txt")[104:]
    assert not any(token != token.lower() for token in learned)
    assert "The" in read_vocab(folder / "cased/vocab.txt")


def test_the_same_text_makes_the_same_vocabulary(vocabularies):
    folder, _ = vocabularies
    again = read_vocab(folder / "again.txt")
    assert again == read_vocab(folder / "vocab.txt")


def test_the_configuration_beside_a_vocabulary_states_its_size(vocabularies):
    folder, done = vocabularies
    size = len(read_vocab(folder / "vocab.txt"))
    config = modeling.load_config(str(folder / "bert_config.json"))
    assert config == modeling.BertConfig(vocab_size=size)
    assert "--bert_config_file=" in done.stdout
    assert f"vocab_size of {size}" in done.stdout


def test_the_folder_of_a_vocabulary_states_its_casing(vocabularies):
    folder, _ = vocabularies
    assert not read_preset(folder / "cased").do_lower_case
    assert read_preset(folder).do_lower_case


def test_vocabularies_of_both_casings_need_two_folders(vocabularies):
    folder, _ = vocabularies
    flags = FLAGS | {"output_file": "cased/more.txt"}
    done = script_runner.run(SCRIPT, folder, **flags)
    assert "cased/tokenizer_config.json" in done.error


def test_lines_that_are_not_text_are_counted(tmp_path):
    """As the extractors of Wikipedia write them."""
    lines = ['<doc id="1" title="A > B">', "A B", "", "It is a boat.", "</doc>"]
    lines += ['{"text": "a"}', ""]
    (tmp_path / "wiki_00").write_text("\n".join(lines))
    flags = split_flags("""
        --input_file=wiki_00 --output_file=vocab.txt --vocab_size=300
    """)
    done = script_runner.run(SCRIPT, tmp_path, **flags).check()
    assert "2 lines of the input are <doc> tags" in done.stderr
    assert "1 lines of the input are JSON" in done.stderr


def test_learning_shows_its_progress(caplog, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    counts = collections.Counter({f"w{i}": i for i in range(1, 99)})
    with caplog.at_level("INFO"):
        vocabulary_learning.learn_vocabulary(counts, 60, 0)
    shown = "Learning the vocabulary: trial 1 of "
    assert any(line.startswith(shown) for line in caplog.messages)


def test_ideographs_and_punctuation_never_continue_a_word():
    counts = collections.Counter({"\u4e2d": 9, "abc": 5, "ab": 4, ",": 3})
    vocab = vocabulary_learning.learn_vocabulary(counts, 30, 0)
    assert {"\u4e2d", ",", "a", "##b", "abc"} <= set(vocab)
    assert not {"##\u4e2d", "##,"} & set(vocab)


@pytest.mark.slow
def test_a_real_corpus_has_few_unknown_words():
    path = golden.shared_path("data/corpus/wikitext2_valid_sentences.txt")
    counts = vocabulary_learning.count_words(path.read_text().split("\n"), True)
    vocab = vocabulary_learning.learn_vocabulary(counts, 8000, 99)
    assert len(vocab) == 8000
    wordpieces = vocabulary_learning.count_corpus_wordpieces(vocab, counts)
    assert wordpieces.num_unknown < 0.001 * wordpieces.num_wordpieces


@pytest.fixture(scope="module")
def extended_checkpoint(tmp_path_factory, pretrained, tiny):
    """A folder with a text, its vocabulary, and a checkpoint for it."""
    folder = tmp_path_factory.mktemp("extended")
    lines = [
        "The trabeculectomy lowers the pressure in the eye.",
        "After trabeculectomy a phacoemulsification may follow.",
        "Phacoemulsification is quick, and the eye rests.",
        "",
    ]
    (folder / "domain.txt").write_text("\n".join(lines * 20))
    flags = split_flags(f"""
        --input_file=domain.txt --extend={VOCAB} --output_file=new.txt
        --num_new_words=120
    """)
    script_runner.run(SCRIPT, folder, **flags).check()
    convert = split_flags(f"""
        --init_checkpoint={pretrained.folder}/run/model.ckpt-7
        --bert_config_file={tiny}/bert_config.json --vocab_file={VOCAB}
        --extended_vocab_file=new.txt --output_dir=model
    """)
    script_runner.run("tools.convert_checkpoint", folder, **convert).check()
    return folder, convert


def test_new_rows_are_the_mean_of_their_pieces(extended_checkpoint):
    folder, convert = extended_checkpoint
    old, new = read_vocab(VOCAB), read_vocab(folder / "model/vocab.txt")
    assert new == read_vocab(folder / "new.txt")
    assert {"trabeculectomy", "phacoemulsification"} < set(new)
    before = read_checkpoint(convert["init_checkpoint"])
    after = read_checkpoint(folder / "model/bert_model.ckpt")
    config = modeling.load_config(str(folder / "model/bert_config.json"))
    assert config.vocab_size == len(new) == len(after[WORDS])
    for row, token in enumerate(new):
        is_old = row < len(old) and token == old[row]
        pieces = [token] if is_old else wordpiece(token, old)
        rows = [*map(old.index, pieces)]
        for name in (WORDS, BIAS):
            expected = np.mean(before[name][rows], axis=0)
            np.testing.assert_allclose(after[name][row], expected, atol=1e-7)
    # All weights are there, so pretraining can begin from them.
    weights = {name for name in before if name.startswith(("bert/", "cls/"))}
    assert {*after} == {name for name in weights if "/adam_" not in name}
    for name in after.keys() - {WORDS, BIAS}:
        np.testing.assert_array_equal(after[name], before[name], name)
