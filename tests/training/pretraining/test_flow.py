"""Pretraining as a whole: what it writes, says and refuses.

tests/scripts/test_run_pretraining.py tests trainings.
"""

import pytest

import modeling
from options.parsed_command import ParsedCommand
from tests.support import models, pretraining_records
from tests.support.output_files import read_results
from training.config.pretraining_config import PretrainingConfig
from training.preparation.starting_point_loading import load_starting_point
from training.pretraining.flow import pretrain
from training.run_files.history import HISTORY_FILE, read_history


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of records of 32 WordPieces, and of the weights model/."""
    folder = tmp_path_factory.mktemp("pretraining")
    pretraining_records.create_records(folder, "records", num_shards=1)
    config = models.tiny_config(vocab_size=1600)
    model = models.built(modeling.BertPretrainer(config))
    modeling.save_release(model, folder / "model")
    return folder


@pytest.fixture
def evaluate(folder, tmp_path):
    """A function (**flags) -> scores of the weights, which it writes."""

    def evaluate_weights(**changes):
        flags = {
            "input_file": str(folder / "records-*"),
            "init_checkpoint": str(folder / "model"),
            "output_dir": str(tmp_path / "run"),
            "do_eval": True,
            "max_eval_steps": 1,
            "max_seq_length": 32,
            "max_predictions_per_seq": 5,
        }
        flags |= changes
        config = PretrainingConfig.from_values(**flags)
        pretrain(load_starting_point(ParsedCommand(config, flags)))
        return read_results(tmp_path / "run")

    return evaluate_weights


def test_weights_are_scored_by_googles_metrics(evaluate):
    assert evaluate().keys() == {
        "global_step",
        "loss",
        "masked_lm_accuracy",
        "masked_lm_loss",
        "next_sentence_accuracy",
        "next_sentence_loss",
    }


def test_without_next_sentences_only_the_masked_words_are_scored(evaluate):
    scores = evaluate(next_sentence=False)
    assert not {name for name in scores if name.startswith("next_sentence")}
    assert scores["loss"] == pytest.approx(scores["masked_lm_loss"])


def test_the_history_tells_scores_on_other_records_apart(evaluate, tmp_path):
    evaluate()
    (first,) = read_history(tmp_path / "run" / HISTORY_FILE)
    evaluate(max_eval_steps=2)
    (second,) = read_history(tmp_path / "run" / HISTORY_FILE)
    assert first["kind"] == second["kind"] == "eval"
    assert first["dev_set"] != second["dev_set"]


def test_records_of_another_length_are_refused(evaluate):
    with pytest.raises(ValueError, match="records-00000-of-00001, record 0"):
        evaluate(max_seq_length=64)


def test_a_longer_input_than_the_network_reads_is_refused(evaluate):
    with pytest.raises(ValueError, match="--max_seq_length=128 is more than"):
        evaluate(max_seq_length=128)


def test_an_evaluation_alone_reads_the_last_step_even_after_a_better_one(
    evaluate, folder, tmp_path
):
    trained = evaluate(
        do_train=True,
        eval_input_file=str(folder / "records-*"),
        # Step 1 is the best, because the steps after it diverge.
        learning_rate=1.0,
        num_warmup_steps=3,
        num_train_steps=3,
        eval_steps=1,
        train_batch_size=4,
    )
    (tmp_path / "run" / "eval_results.txt").unlink()
    assert evaluate(init_checkpoint=None) == trained
    assert trained["global_step"] == 3


def test_the_card_of_exported_weights_states_the_scores_of_their_step(
    evaluate, folder, tmp_path
):
    last_scores = evaluate(
        do_train=True,
        eval_input_file=str(folder / "records-*"),
        export_weights=str(tmp_path / "weights"),
        # Step 1 is the best, because the steps after it diverge.
        learning_rate=1.0,
        num_warmup_steps=3,
        num_train_steps=3,
        eval_steps=1,
        train_batch_size=4,
    )
    history = read_history(tmp_path / "run" / HISTORY_FILE)
    loss_of_step = {
        line["step"]: line["metrics"]["loss"]
        for line in history
        if line["kind"] == "eval"
    }
    assert last_scores["loss"] == pytest.approx(loss_of_step[3])
    card = (tmp_path / "weights" / "README.md").read_text()
    assert f"| loss | {loss_of_step[1]:.4g} |" in card
    assert f"| loss | {loss_of_step[3]:.4g} |" not in card
