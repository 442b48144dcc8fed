"""New words from a text to a checkpoint to more pretraining."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from tests import script_runner
from tests.checkpoints import values

VOCAB = script_runner.SAMPLES / "vocab.txt"
WORDS = "bert/embeddings/word_embeddings"
BIAS = "cls/predictions/output_bias"


@pytest.fixture(scope="module")
def extended(tmp_path_factory, pretrained, tiny):
    """A folder with a text, its vocabulary, and a checkpoint for it."""
    folder = tmp_path_factory.mktemp("extended")
    run, _ = pretrained
    lines = [
        "The trabeculectomy lowers the pressure in the eye.",
        "After trabeculectomy a phacoemulsification may follow.",
        "Phacoemulsification is quick, and the eye rests.",
        "",
    ]
    (folder / "domain.txt").write_text("\n".join(lines * 20))
    script_runner.run(
        "tools.create_vocabulary",
        folder,
        input_file="domain.txt",
        extend=VOCAB,
        output_file="new.txt",
        num_new_words=120,
    ).check()
    convert = {
        "init_checkpoint": run / "model.ckpt-7",
        "bert_config_file": tiny / "bert_config.json",
        "vocab_file": VOCAB,
        "extended_vocab_file": "new.txt",
        "output_dir": "model",
    }
    script_runner.run("tools.convert_checkpoint", folder, **convert).check()
    return folder, run, convert


def test_new_rows_are_the_mean_of_their_pieces(extended):
    folder, run, _ = extended
    old_vocab = VOCAB.read_text().splitlines()
    new_vocab = (folder / "model/vocab.txt").read_text().splitlines()
    assert new_vocab == (folder / "new.txt").read_text().splitlines()
    assert {"trabeculectomy", "phacoemulsification"} < set(new_vocab)
    before = values(run / "model.ckpt-7")
    after = values(folder / "model/bert_model.ckpt")
    config = modeling.load_config(str(folder / "model/bert_config.json"))
    assert config.vocab_size == len(new_vocab) == len(after[WORDS])
    tokenizer = split_by(old_vocab)
    for name in (WORDS, BIAS):
        for row, token in enumerate(new_vocab):
            if row < len(old_vocab) and token == old_vocab[row]:
                expected = before[name][row]
            else:
                expected = np.mean(before[name][tokenizer(token)], axis=0)
            np.testing.assert_allclose(after[name][row], expected, atol=1e-7)
    for name in after.keys() - {WORDS, BIAS}:
        np.testing.assert_array_equal(after[name], before[name], name)


def split_by(vocab):
    """Returns a function of a word: its ids, by a search of our own here."""

    def pieces(word):
        found, rest, mark = [], word, ""
        while rest:
            for end in range(len(rest), 0, -1):
                if mark + rest[:end] in vocab:
                    found.append(vocab.index(mark + rest[:end]))
                    rest, mark = rest[end:], "##"
                    break
            else:
                return [vocab.index("[UNK]")]
        return found

    return pieces


def test_pretraining_resumes_from_it(extended):
    folder, _, _ = extended
    new_vocab = (folder / "new.txt").read_text().splitlines()
    script_runner.run(
        "create_pretraining_data.py",
        folder,
        input_file="domain.txt",
        vocab_file="model/vocab.txt",
        output_file="domain.tfrecord",
        max_seq_length=32,
        max_predictions_per_seq=5,
        dupe_factor=1,
    ).check()
    rows = set()
    for record in tf.data.TFRecordDataset(str(folder / "domain.tfrecord")):
        example = tf.train.Example.FromString(record.numpy())
        rows.update(example.features.feature["input_ids"].int64_list.value)
        rows.update(example.features.feature["masked_lm_ids"].int64_list.value)
    assert new_vocab.index("trabeculectomy") in rows
    done = script_runner.run(
        "run_pretraining.py",
        folder,
        input_file="domain.tfrecord",
        bert_config_file="model/bert_config.json",
        init_checkpoint="model/bert_model.ckpt",
        output_dir="run",
        do_train=True,
        max_seq_length=32,
        max_predictions_per_seq=5,
        train_batch_size=8,
        num_train_steps=2,
        num_warmup_steps=0,
    ).check()
    assert " variables loaded" in done.stderr and "new:" not in done.stderr
    trained = values(folder / "run/model.ckpt-2")[WORDS]
    start = values(folder / "model/bert_model.ckpt")[WORDS]
    row = new_vocab.index("trabeculectomy")
    assert np.abs(trained[row] - start[row]).max() > 0


def test_what_is_no_extension_is_refused(extended):
    folder, _, convert = extended
    other = VOCAB.read_text().splitlines()
    other[-1] = "zebra"
    (folder / "other.txt").write_text("\n".join(other) + "\n")
    error = script_runner.run(
        "tools.convert_checkpoint",
        folder,
        **convert | {"extended_vocab_file": "other.txt", "output_dir": "no"},
    ).error
    assert "--extended_vocab_file=other.txt does not extend" in error
    assert "row 1599 was" in error
    assert not (folder / "no").exists()


@pytest.mark.parametrize(
    "flags, message",
    [
        ({"num_new_words": 3}, "--num_new_words needs --extend"),
        ({"extend": VOCAB, "vocab_size": 50}, "--vocab_size is for a new"),
    ],
)
def test_contradictory_flags(tmp_path, flags, message):
    (tmp_path / "text.txt").write_text("word\n")
    error = script_runner.run(
        "tools.create_vocabulary",
        tmp_path,
        input_file="text.txt",
        output_file="vocab.txt",
        **flags,
    ).error
    assert message in error
