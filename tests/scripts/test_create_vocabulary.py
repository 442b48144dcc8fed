import collections

import pytest

from data.text import tokenization, vocabulary
from tests import golden, script_runner

CORPUS = golden.ROOT / "tests/testdata/golden/pretraining_data/corpus"


def run(folder, *arguments, **flags):
    flags = {
        "input_file": CORPUS / "harbor.txt",
        "output_file": "vocab.txt",
    } | flags
    return script_runner.run(
        "tools.create_vocabulary", folder, *arguments, **flags
    )


def make(tmp_path, name, *arguments):
    done = run(
        tmp_path, "--vocab_size=400", *arguments, output_file=name
    ).check()
    return (tmp_path / name).read_text().splitlines(), done.stdout


def test_vocabulary_of_its_own_corpus(tmp_path):
    vocab, summary = make(tmp_path, "vocab.txt")
    assert vocab[:2] == ["[PAD]", "[unused0]"]
    # As in the released vocabularies.
    assert vocab[99:104] == ["[unused98]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert len(vocab) == len(set(vocab)) <= 400
    assert f"{len(vocab)} WordPieces" in summary and "0.000% [UNK]" in summary
    tokenizer = tokenization.FullTokenizer(tmp_path / "vocab.txt")
    tokenizer.check_vocab(len(vocab))
    text = (CORPUS / "harbor.txt").read_text()
    tokens = tokenizer.tokenize(text)
    assert "[UNK]" not in tokens
    assert not any(token != token.lower() for token in vocab[104:])
    assert "keeper" in vocab  # a frequent word is whole
    # The same again, and another for cased text.
    assert make(tmp_path, "again.txt")[0] == vocab
    cased, _ = make(
        tmp_path, "cased.txt", "--nodo_lower_case", "--num_unused=3"
    )
    assert cased[:8] == [
        *("[PAD]", "[unused0]", "[unused1]", "[unused2]"),
        *("[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    ]
    assert "The" in cased


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"input_file": "none*"}, "--input_file: no file"),
        ({"vocab_size": 120}, "--vocab_size=120 is too small"),
        ({"num_unused": 30520}, "--num_unused=30520 leaves no room in --vocab"),
        ({"input_file": "empty"}, "no words in the input"),
    ],
)
def test_bad_input_is_one_line(tmp_path, flags, message):
    (tmp_path / "empty").write_text("")
    assert message in run(tmp_path, **flags).error
    assert not list(tmp_path.glob("vocab*"))


def test_ideographs_need_no_row_for_going_on():
    counts = collections.Counter({"\u4e2d": 9, "abc": 5, "ab": 4, ",": 3})
    vocab = vocabulary.learn_vocabulary(counts, 30, 0)
    assert {"\u4e2d", ",", "a", "##b", "abc"} <= set(vocab)
    assert not {"##\u4e2d", "##,"} & set(vocab)


def test_a_real_corpus_has_few_unknown(tmp_path):
    path = golden.shared("data/corpus/wikitext2_valid_sentences.txt")
    counts = vocabulary.count_words(path.read_text().split("\n"), True)
    vocab = vocabulary.learn_vocabulary(counts, 8000, 99)
    assert len(vocab) == 8000
    assert vocabulary.unknown_share(vocab, counts) < 0.001
