"""What both flows write and log after the training."""

import pytest

from model_folders.reading.preset import read_preset
from model_folders.scores import Evaluation, Scores
from tests.support.models import tiny_config
from tests.support.tasks import toy_task
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_starting_point,
    load_tokenizer,
)
from training.loop import final_stages


@pytest.fixture
def create_trainer(tmp_path):
    """A function (**flags) -> Trainer of a run in FOLDER/run."""

    def create(**flags):
        config = create_config(tmp_path / "run", do_eval=True, **flags)
        starting_point = create_starting_point(
            config, tiny_config(vocab_size=1600), load_tokenizer()
        )
        (tmp_path / "run").mkdir()
        return toy_task.create_trainer(ToyTask(starting_point), ["no", "yes"])

    return create


def test_weights_are_stored_as_a_release(create_trainer, tmp_path):
    folder = tmp_path / "weights"
    final_stages.store_weights(create_trainer(export_weights=str(folder)), None)
    assert {path.name for path in folder.iterdir()} >= {
        "bert_model.ckpt.index",
        "bert_config.json",
        "vocab.txt",
        "labels.txt",
        "model.json",
        "README.md",
    }


def test_stored_weights_name_their_labels(create_trainer, tmp_path):
    folder = tmp_path / "weights"
    final_stages.store_weights(create_trainer(export_weights=str(folder)), None)
    assert read_preset(folder).labels == ["no", "yes"]


def test_the_card_of_stored_weights_states_the_scores(create_trainer, tmp_path):
    folder = tmp_path / "weights"
    trainer = create_trainer(export_weights=str(folder))
    evaluation = Evaluation(0, Scores({"accuracy": 0.25}))
    final_stages.store_weights(trainer, evaluation)
    assert "0.25" in (folder / "README.md").read_text()


def test_no_weights_are_stored_without_the_flag(create_trainer, tmp_path):
    final_stages.store_weights(create_trainer(), None)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_end_names_scores_reports_and_commands(
    create_trainer, tmp_path, caplog
):
    trainer = create_trainer()
    report = tmp_path / "run/report.html"
    report.touch()
    with caplog.at_level("INFO", logger="absl"):
        final_stages.log_end(
            trainer.run_folder,
            score_lines=["accuracy: 0.25"],
            commands=["python predict.py"],
            seconds=61.4,
        )
    assert caplog.messages == [
        f"Done in 0:01:01\n  accuracy: 0.25\n  {report}\n  python predict.py"
    ]
