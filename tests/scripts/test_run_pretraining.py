"""run_pretraining.py's results, checkpoints and resumes, and faults in it."""

import math
import re
import shutil

import numpy as np
import pytest
import tensorflow as tf

from modeling.presets import checkpoint_steps
from tests.support import script_runner
from tests.support.checkpoints import values
from tests.support.script_runner import parse_flags, read_results

WORDS = "bert/embeddings/word_embeddings"


def test_results_are_the_originals(pretrained):
    folder, done = pretrained
    results = read_results(folder)
    assert list(results) == [
        "global_step",
        "loss",
        "masked_lm_accuracy",
        "masked_lm_loss",
        "next_sentence_accuracy",
        "next_sentence_loss",
    ]
    assert "global_step = 7\n" in (folder / "eval_results.txt").read_text()
    assert 0 <= results["masked_lm_accuracy"] <= 1
    assert 0 <= results["next_sentence_accuracy"] <= 1
    # A model that knows almost nothing about 1,600 words and 2 labels.
    assert abs(results["masked_lm_loss"] - math.log(1600)) < 0.5
    assert abs(results["next_sentence_loss"] - math.log(2)) < 0.2
    # Progress: step, loss, learning rate, speed and time left.
    assert re.search(
        r"Training step 7 of 7 .*loss .*learning_rate .*examples/s .* left",
        done.stderr,
    )


def test_checkpoints_are_the_originals(pretrained):
    folder, _ = pretrained
    assert checkpoint_steps(folder) == [3, 4, 5, 6, 7]
    newest = tf.train.latest_checkpoint(folder)
    assert newest == str(folder / "model.ckpt-7")
    shapes = dict(tf.train.list_variables(newest))
    weights = {
        name: shape
        for name, shape in shapes.items()
        if re.match(r"(bert|cls)/.*(?<!/adam_[mv])$", name)
    }
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
    for name, shape in weights.items():
        assert shapes[f"{name}/adam_m"] == shapes[f"{name}/adam_v"] == shape
    assert tf.train.load_variable(newest, "global_step") == 7


@pytest.mark.slow
def test_resumes_from_the_newest_undamaged_checkpoint(
    tmp_path, pretrained, two_blocks
):
    folder, _ = pretrained
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    newest = damaged / "model.ckpt-7.data-00000-of-00001"
    newest.write_bytes(newest.read_bytes()[:1000])
    flags = two_blocks | {"output_dir": damaged, "do_train": True}
    done = script_runner.run(
        "run_pretraining.py", tmp_path, **flags, num_train_steps=7
    ).check()
    assert f"{damaged}/model.ckpt-7 cannot be read" in done.stderr
    assert f"Restored the checkpoint {damaged}/model.ckpt-6" in done.stderr
    # What was damaged is written again, and the step made again is the same.
    after = values(damaged, 7)
    for name, value in values(folder, 7).items():
        np.testing.assert_allclose(after[name], value, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_words_are_masked_as_records_are_read(tmp_path, pretraining_flags):
    script_runner.create_records(
        tmp_path, "made", num_shards=1, dynamic_masking=True
    )
    flags = pretraining_flags | parse_flags(f"""
        --input_file=made-* --vocab_file={script_runner.SAMPLES}/vocab.txt
        --output_dir=run --do_train --do_eval --num_train_steps=2
        --max_eval_steps=2 --do_whole_word_mask
    """)
    script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    assert 0 < read_results(tmp_path / "run")["masked_lm_loss"] < 20
