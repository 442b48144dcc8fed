"""Each training flag keeps its promise in real runs of run_pretraining.py."""

import shutil

import numpy as np
import pytest

from files.json_files import read_json
from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.reading.preset import read_preset
from tests.support import script_runner, tensorboard_events
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from tests.support.output_files import read_results
from tests.support.script_runner import FinishedRun, check_refusals, split_flags

pytestmark = pytest.mark.slow

WORDS = "bert/embeddings/word_embeddings"


@pytest.fixture(scope="module")
def flags(two_blocks, pretrained):
    """Flags of 4 steps that start from the pretrained weights."""
    return two_blocks | split_flags(f"""
        --init_checkpoint={pretrained.folder}/run/model.ckpt-7 --do_train
        --num_train_steps=4 --num_warmup_steps=0 --summary_steps=1
    """)


@pytest.fixture(scope="module")
def runs(flags, tiny, sample_records, tmp_path_factory):
    """Runs that differ in one flag each: {name: FinishedRun}."""
    folder = tmp_path_factory.mktemp("runs")
    changes = {
        "plain": "--do_eval --max_eval_steps=2",
        "again": "--do_eval --max_eval_steps=2 --deterministic",
        "seed": "--do_eval --max_eval_steps=2 --seed=1",
        "bfloat16": "--mixed_precision=bfloat16 --keep_optimizer=False",
        "frozen": """
            --freeze_layers=1 --next_sentence=False --do_eval --max_eval_steps=2
            --gradient_checkpointing
        """,
        "scratch": f"""
            --bert_config_file={tiny}/one_block/bert_config.json
            --eval_steps=2 --left_to_right
            --eval_input_file={sample_records} --max_eval_steps=3
            --export_weights=weights
        """,
        "float16": """
            --mixed_precision=float16 --optimizer=lamb
            --save_checkpoints_steps=1 --keep_checkpoint_max=0
        """,
    }
    changes = {
        name: {"output_dir": name, **split_flags(text)}
        for name, text in changes.items()
    }
    changes["scratch"]["init_checkpoint"] = None
    done = script_runner.run_each(
        "run_pretraining.py", folder, flags, changes.values()
    )
    return {
        name: FinishedRun(folder / name, flags | changes[name], one)
        for name, one in zip(changes, done, strict=True)
    }


@pytest.fixture(scope="module")
def curves(runs):
    """{name: {step: value}} of the summaries of the plain run."""
    return tensorboard_events.read_scalars(runs["plain"].folder)


def test_summaries_name_losses_rates_and_memory(curves):
    names = {
        "masked_lm_loss",
        "next_sentence_loss",
        "loss",
        "learning_rate",
        "gradient_norm",
        "examples_per_second",
        "peak_memory_gib",
    }
    assert names <= curves.keys()


def test_summaries_have_the_loss_of_each_step(curves):
    assert sorted(curves["loss"]) == [1, 2, 3, 4]


def test_summaries_have_the_speed_of_all_steps_but_the_first(curves):
    """The time of the first step contains the start-up."""
    rates = curves["examples_per_second"]
    assert sorted(rates) == [2, 3, 4]
    assert min(rates.values()) > 0


def test_summaries_have_the_learning_rate_of_the_schedule(curves):
    assert curves["learning_rate"][3] == pytest.approx(1e-3 * 2 / 4)


def test_summaries_have_the_memory_in_gib(curves):
    assert 0.1 < curves["peak_memory_gib"][4] < 20


def loss_of(run):
    """Returns the loss that a run has evaluated."""
    return read_results(run.folder)["loss"]


def test_a_run_starts_from_the_weights_of_a_checkpoint_alone(runs):
    """The slots and the step start anew."""
    from_scratch = [
        name
        for name, run in runs.items()
        if " variables loaded" not in run.done.stderr
    ]
    assert from_scratch == ["scratch"]
    assert read_checkpoint(runs["plain"].folder, 4)["global_step"] == 4


def test_the_same_command_trains_the_same_weights(runs):
    plain, again = (
        read_checkpoint(runs[name].folder, 4) for name in ("plain", "again")
    )
    assert_same_bits(again, plain)
    assert loss_of(runs["again"]) == loss_of(runs["plain"])


def test_another_seed_trains_other_weights_on_other_batches(runs):
    plain, seed = (
        read_checkpoint(runs[name].folder, 4) for name in ("plain", "seed")
    )
    assert not np.array_equal(plain[WORDS], seed[WORDS])
    assert 0 < abs(loss_of(runs["seed"]) - loss_of(runs["plain"])) < 0.1


def test_weights_of_a_run_in_bfloat16_are_saved_in_float32(runs):
    plain, half = (
        read_checkpoint(runs[name].folder, 4) for name in ("plain", "bfloat16")
    )
    assert half[WORDS].dtype == np.float32
    assert not np.array_equal(plain[WORDS], half[WORDS])


@pytest.fixture
def flags_without_optimizer(runs, flags, tmp_path):
    """Flags of a copy of the run that saved no state of its optimizer."""
    folder = shutil.copytree(runs["bfloat16"].folder, tmp_path / "run")
    return flags | {"output_dir": folder, "mixed_precision": "bfloat16"}


def test_a_run_without_its_optimizer_saves_no_moments(runs):
    names = read_checkpoint(runs["bfloat16"].folder, 4)
    assert not any("adam" in name for name in names)


def test_a_run_without_its_optimizer_can_be_repeated_and_evaluated(
    flags_without_optimizer, tmp_path
):
    changes = {}, {"do_train": False, "do_eval": True, "max_eval_steps": 2}
    script_runner.run_each(
        "run_pretraining.py", tmp_path, flags_without_optimizer, changes
    )


def test_a_run_without_its_optimizer_cannot_train_further(
    flags_without_optimizer, tmp_path
):
    cases = [("--num_train_steps=5", "--keep_optimizer")]
    check_refusals(
        tmp_path, "run_pretraining.py", flags_without_optimizer, cases
    )


def test_frozen_layers_keep_their_weights(runs, pretrained):
    kernels = (
        "bert/encoder/layer_0/output/dense/kernel",
        "bert/encoder/layer_1/output/dense/kernel",
    )
    before, frozen = (
        read_checkpoint(pretrained.folder / "run", 7),
        read_checkpoint(runs["frozen"].folder, 4),
    )
    for name in (WORDS, kernels[0]):
        np.testing.assert_array_equal(frozen[name], before[name])
        assert f"{name}/adam_m" not in frozen
    assert not np.array_equal(frozen[kernels[1]], before[kernels[1]])


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_other_precisions_train_to_much_the_same_loss(runs, name):
    plain, other = (
        tensorboard_events.read_scalars(runs[run].folder)["loss"]
        for run in ("plain", name)
    )
    # The losses of step 2, before which each run made one step.
    assert other[2] == pytest.approx(plain[2], abs=0.5)


def test_the_scale_of_the_loss_in_float16_is_saved(runs):
    assert read_checkpoint(runs["float16"].folder, 4)["loss_scale"] > 0


def test_all_checkpoints_are_kept_at_a_maximum_of_0(runs):
    assert list_checkpoint_steps(runs["float16"].folder) == [1, 2, 3, 4]


def test_without_next_sentences_they_are_neither_trained_nor_scored(runs):
    plain, frozen = (
        tensorboard_events.read_scalars(runs[name].folder)
        for name in ("plain", "frozen")
    )
    assert "next_sentence_loss" not in frozen
    results = (runs["frozen"].folder / "eval_results.txt").read_text()
    assert "masked_lm_accuracy" in results
    assert "next_sentence" not in results
    # The losses of step 1 are those of the weights that both runs start from.
    assert frozen["masked_lm_loss"][1] == plain["masked_lm_loss"][1]


def test_without_a_checkpoint_a_run_starts_from_random_weights(runs):
    folder, done = runs["scratch"].folder, runs["scratch"].done
    assert "starting from random weights" in done.stderr
    assert read_preset(folder).network_arguments["left_to_right"]


def test_evaluation_while_training_keeps_the_best(runs):
    folder = runs["scratch"].folder
    best_step = read_json(folder / "model.json")["best_step"]
    kept = [path.name for path in (folder / "best").glob("*.index")]
    assert kept == [f"model.ckpt-{best_step}.index"]
    metrics_by_step = {
        entry["step"]: entry["metrics"]
        for entry in tensorboard_events.read_evaluations(folder)
    }
    assert {*metrics_by_step} == {2, 4}
    assert metrics_by_step[best_step]["loss"] == min(
        metrics["loss"] for metrics in metrics_by_step.values()
    )


def test_the_weights_of_the_best_step_are_exported(runs):
    folder = runs["scratch"].folder
    best_step = read_json(folder / "model.json")["best_step"]
    exported = read_checkpoint(folder.parent / "weights/bert_model.ckpt")
    best = read_checkpoint(folder / "best", best_step)
    assert_same_bits(exported, {name: best[name] for name in exported})
    provenance = read_json(folder.parent / "weights/model.json")["origin"]
    assert provenance["step"] == best_step
