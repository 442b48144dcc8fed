"""Each training flag keeps its promise in real runs of run_pretraining.py."""

import json
import re

import numpy as np
import pytest
import tensorflow as tf

from tests import events, script_runner
from tests.checkpoints import values
from training import checkpointing


@pytest.fixture(scope="module")
def flags(pretraining_flags, pretrained):
    folder, _ = pretrained
    return {
        **pretraining_flags,
        "init_checkpoint": folder / "model.ckpt-7",
        "do_train": True,
        "num_train_steps": 4,
        "num_warmup_steps": 0,
        "summary_steps": 1,
    }


@pytest.fixture(scope="module")
def runs(flags, tiny, tmp_path_factory):
    """Runs that differ in one flag each: {name: (folder, Done)}."""
    folder = tmp_path_factory.mktemp("runs")
    changes = {
        "plain": {},
        "gradient_checkpointing": {"gradient_checkpointing": True},
        "frozen": {
            "freeze_layers": 1,
            "next_sentence": False,
            "left_to_right": True,
            "do_eval": True,
            "max_eval_steps": 2,
        },
        "layerwise": {"layerwise_lr_decay": 0.1},
        "scratch": {
            "init_from": "scratch",
            "init_checkpoint": None,
            "eval_input_file": tiny / "train.tfrecord",
            "eval_steps": 2,
            "max_eval_steps": 3,
        },
        "numbers": {
            "adam_beta_1": 0.5,
            "adam_beta_2": 0.8,
            "weight_decay": 3.0,
            "clip_norm": 0.01,
            "num_train_steps": 1,
        },
        "poly_power_lamb": {
            "optimizer": "lamb",
            "poly_power": 2.0,
            "num_train_steps": 6,
            "num_warmup_steps": 3,
            "save_checkpoints_steps": 1,
            "keep_checkpoint_max": 2,
        },
        "continuous_float16": {
            "mixed_precision": "float16",
            "lr_schedule": "continuous",
            "num_train_steps": 6,
            "num_warmup_steps": 3,
            "save_checkpoints_steps": 1,
            "keep_checkpoint_max": 0,
        },
    }
    done = script_runner.run_all(
        [
            (
                "run_pretraining.py",
                folder,
                {**flags, "output_dir": name, **more},
            )
            for name, more in changes.items()
        ]
    )
    return {
        name: (folder / name, one.check())
        for name, one in zip(changes, done, strict=True)
    }


def test_summaries_hold_what_the_log_holds(runs):
    folder, done = runs["plain"]
    found = events.scalars(folder)
    assert found.keys() == {
        "masked_lm_loss",
        "next_sentence_loss",
        "loss",
        "learning_rate",
        "gradient_norm",
        "examples_per_second",
        "tokens_per_second",
        "mfu",
        "peak_memory_gib",
    }
    assert sorted(found["loss"]) == [1, 2, 3, 4]
    # The first step's time holds the start-up, so it has no rate.
    assert sorted(found["mfu"]) == [2, 3, 4]
    for step in (2, 3, 4):
        parts = (
            found["masked_lm_loss"][step] + found["next_sentence_loss"][step]
        )
        assert found["loss"][step] == pytest.approx(parts, rel=1e-5)
        rate = found["examples_per_second"][step]
        assert found["tokens_per_second"][step] == pytest.approx(32 * rate)
        assert f"Step {step}: masked_lm_loss" in done.stderr
    assert found["learning_rate"][3] == pytest.approx(1e-3 * 2 / 4)
    assert 0 < min(found["mfu"].values())
    assert 0.1 < found["peak_memory_gib"][4] < 20


def test_the_summary_shows_how_to_repeat_the_run(runs, flags):
    folder, _ = runs["plain"]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["global_step"] == 4
    assert summary["flags"]["learning_rate"] == flags["learning_rate"]
    assert summary["flags"]["input_file"] == str(flags["input_file"])
    assert summary["versions"]["tensorflow"] == tf.__version__
    assert (
        0
        < summary["seconds"]["training_seconds"]
        < (summary["seconds"]["total_seconds"])
    )
    assert summary["peak_memory_bytes"] > 1e8


def test_recomputing_activations_changes_only_rounding(runs):
    # Dropout is on: the pass that is made again drops the same.
    expected = values(runs["plain"][0], 4)
    found = values(runs["gradient_checkpointing"][0], 4)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=2e-5, err_msg=name)


def test_frozen_layers_stay_as_they_were(runs, pretrained):
    before = values(pretrained[0], 7)
    after = values(runs["frozen"][0], 4)
    for name in (
        "bert/embeddings/word_embeddings",
        "bert/encoder/layer_0/output/dense/kernel",
    ):
        np.testing.assert_array_equal(after[name], before[name])
        assert f"{name}/adam_m" not in after
    moved = "bert/encoder/layer_1/output/dense/kernel"
    assert not np.array_equal(after[moved], before[moved])


def test_layerwise_decay_moves_lower_layers_less(runs, pretrained):
    before = values(pretrained[0], 7)

    def moved(run):
        after = values(runs[run][0], 4)
        kernels = [
            f"bert/encoder/layer_{index}/output/dense/kernel"
            for index in (0, 1)
        ]
        return [np.abs(after[k] - before[k]).max() for k in kernels]

    plain, layerwise = moved("plain"), moved("layerwise")
    assert layerwise[0] < 0.02 * plain[0] * 2
    assert 0.05 * plain[1] < layerwise[1] < 0.2 * plain[1]


def test_lamb_and_float16_train(runs):
    plain = events.scalars(runs["plain"][0])["loss"]
    for name in ("poly_power_lamb", "continuous_float16"):
        losses = events.scalars(runs[name][0])["loss"]
        # The same start, so much the same loss after one step.
        assert losses[2] == pytest.approx(plain[2], abs=0.5)
    assert values(runs["continuous_float16"][0], 6)["loss_scale"] > 0


def test_ablations_train(runs):
    assert "next_sentence_loss" not in events.scalars(runs["frozen"][0])
    # Its head is not trained, so it is not evaluated.
    results = (runs["frozen"][0] / "eval_results.txt").read_text()
    assert "masked_lm_accuracy" in results and "next_sentence" not in results
    before, after = (
        events.scalars(runs[name][0])["masked_lm_loss"]
        for name in ("plain", "frozen")
    )
    # Of the same weights: only what attends to what differs.
    assert after[1] != before[1]
    assert after[1] == pytest.approx(before[1], abs=1.0)


def test_evaluation_while_training_keeps_the_best(runs):
    folder, done = runs["scratch"]
    assert "Evaluation after step 2" in done.stderr
    assert "Evaluation after step 4" in done.stderr
    best = json.loads((folder / "best" / "eval_results.json").read_text())
    kept = [path.name for path in (folder / "best").glob("*.index")]
    assert kept == [f"model.ckpt-{best['global_step']}.index"]
    losses = [
        float(loss)
        for loss in re.findall(
            r"Evaluation after step.*?'loss': ([\d.]+)", done.stderr
        )
    ]
    assert best["loss"] == min(losses)


def test_logged_learning_rates_are_the_formulas(runs):
    peak, steps, warmup = 1e-3, 6, 3
    # The update of step n follows n - 1 others.
    rising = [peak * done / warmup for done in range(warmup)]
    falling = range(warmup, steps)
    expected = {
        # The original falls from step 0 on, so it jumps at the warmup's end.
        "poly_power_lamb": [peak * (1 - done / steps) ** 2 for done in falling],
        "continuous_float16": [
            peak * (1 - (done - warmup) / (steps - warmup)) for done in falling
        ],
    }
    for name, fallen in expected.items():
        folder, done = runs[name]
        found = events.scalars(folder)["learning_rate"]
        assert sorted(found) == list(range(1, steps + 1))
        rates = [found[step] for step in sorted(found)]
        np.testing.assert_allclose(rates, rising + fallen, rtol=1e-6)
        for step, rate in found.items():
            assert re.search(
                rf"Step {step}: .*learning_rate {rate:.4g},", done.stderr
            )


def test_the_numbers_of_the_optimizer(runs, pretrained):
    before = values(pretrained[0], 7)
    after = values(runs["numbers"][0], 1)
    squares = 0.0
    slots = [name for name in after if name.endswith("/adam_m")]
    for name in [slot.removesuffix("/adam_m") for slot in slots]:
        m, v = after[f"{name}/adam_m"], after[f"{name}/adam_v"]
        gradient = m / 0.5
        np.testing.assert_allclose(
            v, 0.2 * gradient**2, rtol=1e-5, err_msg=name
        )
        is_decayed = not name.endswith(("gamma", "beta", "bias"))
        update = m / (np.sqrt(v) + 1e-6) + 3.0 * is_decayed * before[name]
        np.testing.assert_allclose(
            after[name], before[name] - 1e-3 * update, atol=1e-7, err_msg=name
        )
        if name != "bert/embeddings/word_embeddings":
            squares += np.sum(gradient**2)
    # All of the gradient but that of the words.
    assert 0.005 < np.sqrt(squares) <= 0.01 * (1 + 1e-5)


def test_numbers_out_of_range_are_refused(tmp_path):
    flags = {"adam_beta_1": 1, "adam_beta_2": 1.5, "weight_decay": -0.1}
    done = script_runner.run_all(
        [
            ("run_pretraining.py", tmp_path, {name: value})
            for name, value in flags.items()
        ]
    )
    for one, (name, value) in zip(done, flags.items(), strict=True):
        assert f"flag --{name}={value}: " in one.error


def test_the_newest_checkpoints_are_kept(runs, pretrained):
    for folder, kept in (
        (pretrained[0], [3, 4, 5, 6, 7]),
        (runs["poly_power_lamb"][0], [5, 6]),
        (runs["continuous_float16"][0], [1, 2, 3, 4, 5, 6]),
    ):
        assert checkpointing.checkpoint_steps(folder) == kept
        state = tf.train.get_checkpoint_state(folder)
        assert [
            int(path.rsplit("-")[-1])
            for path in state.all_model_checkpoint_paths
        ] == kept
        assert state.model_checkpoint_path.endswith(f"model.ckpt-{kept[-1]}")


def test_starting_from_scratch_is_said(runs):
    assert "starting from random weights" in runs["scratch"][1].stderr


def test_a_run_is_not_continued_as_another(runs, flags, tiny, tmp_path):
    folder, _ = runs["plain"]
    other = tmp_path / "other_config.json"
    config = json.loads((tiny / "bert_config.json").read_text())
    other.write_text(json.dumps(config | {"hidden_dropout_prob": 0.2}))
    records = list(tf.data.TFRecordDataset(tiny / "train.tfrecord"))
    # Of the same name and length, but the other way round.
    with tf.io.TFRecordWriter(str(tmp_path / "train.tfrecord")) as writer:
        for record in reversed(records):
            writer.write(record.numpy())
    size = (tmp_path / "train.tfrecord").stat().st_size
    same = f"['train.tfrecord', {size}, "
    # What is said of each change.
    changes = {
        "batch_size=16; received 8": {"train_batch_size": 8},
        "bert_config.hidden_dropout_prob=0.1; received 0.2": {
            "bert_config_file": other
        },
        "optimizer=adamw; received lamb": {"optimizer": "lamb"},
        f"input_file=[{same}": {"input_file": tmp_path / "train.tfrecord"},
        "next_sentence=True; received False": {"next_sentence": False},
        "batch_size_warmup=None; received 2:3.": {"batch_size_warmup": "2:3"},
    }
    done = script_runner.run_all(
        [
            (
                "run_pretraining.py",
                tmp_path,
                {**flags, "output_dir": folder, "num_train_steps": 9, **more},
            )
            for more in changes.values()
        ]
    )
    for text, one in zip(changes, done, strict=True):
        assert text in one.error
        assert "output_dir" in one.error
        if "input_file" in text:
            assert f"received [{same}" in one.error


def test_other_mistakes_are_named_before_training(flags, tiny, tmp_path):
    changes = {
        "init_from": {"init_from": "scratch"},
        "freeze_layers": {"freeze_layers": 3},
        "gradient_accumulation_steps": {"train_batch_size": 100_000_000},
        "TF_CONFIG": {"distribution_strategy": "multi_worker"},
    }
    done = script_runner.run_all(
        [
            (
                "run_pretraining.py",
                tmp_path,
                {**flags, "output_dir": name, **more},
            )
            for name, more in changes.items()
        ]
    )
    for name, one in zip(changes, done, strict=True):
        assert name in one.error
        assert not list((tmp_path / name).glob("model.ckpt*"))
    # The memory that the large batch needs, and what helps.
    assert re.search(r"needs about [\d.]+ GiB", done[2].error)
    assert "--gradient_checkpointing" in done[2].error


def test_two_phases_of_lengths(pretrained, pretraining_flags, tmp_path):
    folder, _ = pretrained
    # Most steps on short records, then some on long ones from the first
    # phase's weights, with a schedule of their own (paper A.2).
    script_runner.create_records(
        tmp_path,
        "long.tfrecord",
        max_seq_length=64,
        max_predictions_per_seq=10,
    )
    second = {
        **pretraining_flags,
        "input_file": "long.tfrecord",
        "max_seq_length": 64,
        "max_predictions_per_seq": 10,
        "init_checkpoint": folder / "model.ckpt-7",
        "output_dir": "phase2",
        "do_train": True,
        "num_train_steps": 2,
        "num_warmup_steps": 0,
        "summary_steps": 1,
    }
    done = script_runner.run("run_pretraining.py", tmp_path, **second).check()
    assert " variables loaded" in done.stderr
    after = values(tmp_path / "phase2", 2)
    assert after["global_step"] == 2
    # Positions that only the second phase has reached are trained now.
    slot = after["bert/embeddings/position_embeddings/adam_v"]
    assert (slot[32:64] > 0).any()
