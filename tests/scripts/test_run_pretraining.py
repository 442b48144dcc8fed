"""run_pretraining.py's results, checkpoints and resumes, and faults in it."""

import math
import os
import re
import shutil

import numpy as np
import pytest
import tensorflow as tf

from data.io import tfrecords
from files.json_files import read_json
from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import pretraining_records, script_runner
from tests.support.checkpoints import read_checkpoint
from tests.support.output_files import read_results
from tests.support.paths import SAMPLES
from tests.support.script_runner import split_flags

WORDS = "bert/embeddings/word_embeddings"


def test_the_results_are_those_that_googles_script_writes(pretrained):
    folder = pretrained.folder / "run"
    assert list(read_results(folder)) == [
        "global_step",
        "loss",
        "masked_lm_accuracy",
        "masked_lm_loss",
        "next_sentence_accuracy",
        "next_sentence_loss",
    ]
    assert "global_step = 7\n" in (folder / "eval_results.txt").read_text()


def test_the_loss_of_an_untrained_model_is_that_of_chance(pretrained):
    results = read_results(pretrained.folder / "run")
    assert 0 <= results["masked_lm_accuracy"] <= 1
    assert 0 <= results["next_sentence_accuracy"] <= 1
    # A model that knows almost nothing about 1,600 words and 2 labels.
    assert abs(results["masked_lm_loss"] - math.log(1600)) < 0.5
    assert abs(results["next_sentence_loss"] - math.log(2)) < 0.2


def test_progress_is_logged(pretrained):
    # Step, loss, learning rate, speed and time left.
    assert re.search(
        r"Training step 7 of 7 .*loss .*learning_rate .*examples/s .* left",
        pretrained.done.stderr,
    )


def test_checkpoints_have_googles_file_names_and_steps(pretrained):
    folder = pretrained.folder / "run"
    assert list_checkpoint_steps(folder) == [3, 4, 5, 6, 7]
    newest = tf.train.latest_checkpoint(folder)
    assert newest == str(folder / "model.ckpt-7")
    assert tf.train.load_variable(newest, "global_step") == 7


@pytest.fixture
def saved_shapes(pretrained):
    """{name: shape} of the variables of the last checkpoint."""
    return dict(
        tf.train.list_variables(str(pretrained.folder / "run/model.ckpt-7"))
    )


def weights_in(shapes):
    """Returns the entries of a checkpoint that are weights of the network."""
    return {
        name: shape
        for name, shape in shapes.items()
        if re.match(r"(bert|cls)/.*(?<!/adam_[mv])$", name)
    }


def test_checkpoints_contain_the_variables_of_googles(saved_shapes):
    weights = weights_in(saved_shapes)
    # 5 of the embeddings, 16 a layer, 2 of the pooler, 5 and 2 of the heads.
    assert len(weights) == 5 + 2 * 16 + 2 + 5 + 2
    query = "bert/encoder/layer_1/attention/self/query/kernel"
    expected = {
        WORDS: [1600, 32],
        query: [32, 32],
        "cls/predictions/output_bias": [1600],
        "cls/seq_relationship/output_weights": [2, 32],
    }
    assert weights.items() >= expected.items()


def test_checkpoints_contain_both_moments_of_each_weight(saved_shapes):
    for name, shape in weights_in(saved_shapes).items():
        assert saved_shapes[f"{name}/adam_m"] == shape
        assert saved_shapes[f"{name}/adam_v"] == shape


@pytest.mark.slow
def test_resumes_from_the_newest_undamaged_checkpoint(
    tmp_path, pretrained, two_blocks
):
    folder = pretrained.folder / "run"
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    newest = damaged / "model.ckpt-7.data-00000-of-00001"
    newest.write_bytes(newest.read_bytes()[:1000])
    undamaged = damaged / "model.ckpt-6.index"
    written_at = undamaged.stat().st_mtime_ns
    flags = two_blocks | {"output_dir": damaged, "do_train": True}
    done = script_runner.run(
        "run_pretraining.py", tmp_path, **flags, num_train_steps=7
    ).check()
    assert f"{damaged}/model.ckpt-7 cannot be read" in done.stderr
    # Step 6 is not made again.
    assert undamaged.stat().st_mtime_ns == written_at
    # What was damaged is written again, and the step made again is the same.
    after = read_checkpoint(damaged, 7)
    for name, value in read_checkpoint(folder, 7).items():
        np.testing.assert_allclose(after[name], value, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_words_are_masked_as_records_are_read(tmp_path, pretraining_flags):
    pretraining_records.create_records(
        tmp_path, "made", num_shards=1, dynamic_masking=True
    )
    flags = pretraining_flags | split_flags(f"""
        --input_file=made-* --vocab_file={SAMPLES}/vocab.txt
        --output_dir=run --do_train --do_eval --num_train_steps=2
        --max_eval_steps=2 --do_whole_word_mask
    """)
    script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    assert 0 < read_results(tmp_path / "run")["masked_lm_loss"] < 20


@pytest.fixture(scope="module")
def flags_without_lengths(pretraining_flags):
    """Flags of a run that learns nothing, and does not name its lengths."""
    flags = {**pretraining_flags, "learning_rate": 0.0, "train_batch_size": 2}
    del flags["max_seq_length"], flags["max_predictions_per_seq"]
    flags |= split_flags("--output_dir=run --do_train --num_train_steps=100")
    return flags | {"vocab_file": SAMPLES / "vocab.txt"}


@pytest.fixture(scope="module")
def without_lengths(tmp_path_factory, flags_without_lengths):
    """(folder with a `run` of these flags, its result). No test changes it."""
    folder = tmp_path_factory.mktemp("without_lengths")
    flags = flags_without_lengths | {"do_eval": True, "max_eval_steps": 2}
    done = script_runner.run("run_pretraining.py", folder, **flags)
    return folder, done.check()


def test_lengths_come_from_the_records(without_lengths):
    folder, _ = without_lengths
    settings = read_json(folder / "run/model.json")["origin"]["settings"]
    assert settings["flags"]["max_seq_length"] == 32
    assert settings["flags"]["max_predictions_per_seq"] == 5


def test_the_log_names_the_next_commands(without_lengths):
    _, done = without_lengths
    assert "python run_classifier.py --data_file=TABLE" in done.stderr
    assert "--init_checkpoint=run --output_dir=OUTPUT" in done.stderr
    assert "tools.export --model=run" in done.stderr


def test_the_log_says_once_that_a_run_has_not_learned(without_lengths):
    _, done = without_lengths
    assert done.stderr.count("has not learned from the context yet") == 1


@pytest.mark.parametrize("lengths", [{}, {"max_seq_length": 32}])
def test_a_run_resumes_without_and_with_the_lengths(
    tmp_path, without_lengths, flags_without_lengths, lengths
):
    folder, _ = without_lengths
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    flags = flags_without_lengths | lengths | {"num_train_steps": 101}
    done = script_runner.run("run_pretraining.py", tmp_path, **flags)
    assert "Training step 101 of 101" in done.check().stderr


def test_a_resume_on_records_of_equal_name_size_and_time_is_an_error(
    tmp_path, pretraining_flags
):
    made = [*tfrecords.read_records(pretraining_flags["input_file"])]

    def write(order):
        with tfrecords.RecordWriter(
            [str(tmp_path / "made.tfrecord")]
        ) as writer:
            for record in order:
                writer.write(record)
        os.utime(tmp_path / "made.tfrecord", (1, 1))

    write(made)
    flags = pretraining_flags | split_flags("""
        --input_file=made.tfrecord --output_dir=run --do_train
    """)
    script_runner.run(
        "run_pretraining.py", tmp_path, **flags, num_train_steps=1
    ).check()
    write(made[::-1])
    done = script_runner.run(
        "run_pretraining.py", tmp_path, **flags, num_train_steps=2
    )
    assert "--input_file: the run in run began with other" in done.error
    assert "made.tfrecord" in done.error
