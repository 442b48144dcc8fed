import math
import re
import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests import checkpoints, script_runner


def read_results(folder):
    lines = (folder / "eval_results.txt").read_text().splitlines()
    return dict(line.split(" = ") for line in lines)


def steps(folder):
    return sorted(
        int(path.stem.rpartition("-")[2])
        for path in folder.glob("model.ckpt-*.index")
    )


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
    assert results["global_step"] == "7"
    values = {name: float(value) for name, value in results.items()}
    assert 0 <= values["masked_lm_accuracy"] <= 1
    assert 0 <= values["next_sentence_accuracy"] <= 1
    # A model that knows next to nothing of 1,600 words and 2 labels.
    assert abs(values["masked_lm_loss"] - math.log(1600)) < 0.5
    assert abs(values["next_sentence_loss"] - math.log(2)) < 0.2
    for line in ("*** Input Files ***", "***** Eval results *****"):
        assert line in done.stderr
    # Progress: step, loss, learning rate, speed and time left.
    assert re.search(
        r"Training step 7 of 7 .*loss .*learning_rate .*examples/s .* left",
        done.stderr,
    )


def test_checkpoints_are_the_originals(pretrained):
    folder, _ = pretrained
    assert steps(folder) == [3, 4, 5, 6, 7]
    newest = tf.train.latest_checkpoint(folder)
    assert newest == str(folder / "model.ckpt-7")
    shapes = dict(tf.train.list_variables(newest))
    weights = {
        name: shape
        for name, shape in shapes.items()
        if name.startswith(("bert/", "cls/"))
        and not name.endswith(("/adam_m", "/adam_v"))
    }
    # 5 of the embeddings, 16 a layer, 2 of the pooler, 5 and 2 of the heads.
    assert len(weights) == 5 + 2 * 16 + 2 + 5 + 2
    assert shapes["bert/embeddings/word_embeddings"] == [1600, 32]
    assert shapes["cls/predictions/output_bias"] == [1600]
    assert shapes["cls/seq_relationship/output_weights"] == [2, 32]
    assert shapes["bert/encoder/layer_1/attention/self/query/kernel"] == [
        32,
        32,
    ]
    for name, shape in weights.items():
        assert shapes[f"{name}/adam_m"] == shape
        assert shapes[f"{name}/adam_v"] == shape
    assert tf.train.load_variable(newest, "global_step") == 7


@pytest.mark.slow
def test_resumes_from_the_newest_undamaged_checkpoint(
    tmp_path, pretrained, pretraining_flags
):
    folder, _ = pretrained
    resumed, finished, damaged = (
        tmp_path / name for name in ("resumed", "finished", "damaged")
    )
    for copy in (resumed, finished, damaged):
        shutil.copytree(folder, copy)
    newest = damaged / "model.ckpt-7.data-00000-of-00001"
    newest.write_bytes(newest.read_bytes()[:1000])
    further, again, fallen_back = script_runner.run_all(
        [
            (
                "run_pretraining.py",
                tmp_path,
                {
                    **pretraining_flags,
                    "output_dir": output_dir,
                    "do_train": True,
                    "do_eval": output_dir == resumed,
                    "num_train_steps": num_train_steps,
                    "save_checkpoints_steps": 1000,
                },
            )
            for output_dir, num_train_steps in (
                (resumed, 9),
                (finished, 7),
                (damaged, 7),
            )
        ]
    )
    assert f"Restored the checkpoint {resumed}/model.ckpt-7" in (
        further.check().stderr
    )
    assert "Training step 8 of 9" in further.stderr
    assert steps(resumed) == [4, 5, 6, 7, 9]
    assert read_results(resumed)["global_step"] == "9"

    assert "Nothing left to do" in again.check().stderr
    assert "Training step" not in again.stderr

    log = fallen_back.check().stderr
    assert f"{damaged}/model.ckpt-7 cannot be read" in log
    assert f"Restored the checkpoint {damaged}/model.ckpt-6" in log
    # What was damaged is written again, and the step made again is the same.
    after = checkpoints.values(damaged / "model.ckpt-7")
    for name, value in checkpoints.values(folder / "model.ckpt-7").items():
        np.testing.assert_allclose(after[name], value, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_trains_from_a_checkpoint_the_same_each_time(
    tmp_path, pretrained, pretraining_flags
):
    folder, _ = pretrained
    flags = {
        **pretraining_flags,
        "init_checkpoint": folder / "model.ckpt-7",
        "do_train": True,
        "do_eval": True,
        "max_eval_steps": 5,
        "num_train_steps": 2,
        "num_warmup_steps": 0,
        "train_batch_size": 8,
    }
    runs = script_runner.run_all(
        [
            ("run_pretraining.py", tmp_path, {**flags, **more})
            for more in (
                {"output_dir": "a"},
                {"output_dir": "b", "deterministic": True},
                {"output_dir": "c", "seed": 1},
                {"output_dir": "d", "mixed_precision": "bfloat16"},
            )
        ]
    )
    for done in runs:
        assert " variables loaded" in done.check().stderr
    a, b, c, d = (
        checkpoints.values(tmp_path / name / "model.ckpt-2") for name in "abcd"
    )
    word_embeddings = "bert/embeddings/word_embeddings"
    checkpoints.assert_same_bits(b, a)
    assert not np.array_equal(a[word_embeddings], c[word_embeddings])
    # The slots start anew: they are no part of a model's start.
    assert a["global_step"] == 2
    assert d[word_embeddings].dtype == np.float32
    assert not np.array_equal(a[word_embeddings], d[word_embeddings])
    losses = [float(read_results(tmp_path / x)["loss"]) for x in "abcd"]
    assert losses[0] == losses[1]
    # Another seed: other batches, too.
    assert 0 < abs(losses[2] - losses[0]) < 0.1
    # Other roundings, in two small steps.
    assert 0 < abs(losses[3] - losses[0]) < 0.02


@pytest.mark.soak
def test_compiled_training_is_the_same(tmp_path, pretraining_flags):
    flags = pretraining_flags | {"do_train": True, "num_train_steps": 2}
    runs = [{"output_dir": "plain"}, {"output_dir": "jit", "jit_compile": True}]
    for done in script_runner.run_all(
        [("run_pretraining.py", tmp_path, flags | more) for more in runs]
    ):
        done.check()
    plain, compiled = (
        checkpoints.values(tmp_path / run["output_dir"] / "model.ckpt-2")
        for run in runs
    )
    for name, value in plain.items():
        np.testing.assert_allclose(
            compiled[name], value, atol=1e-4, err_msg=name
        )
