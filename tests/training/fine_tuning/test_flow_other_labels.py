"""A run starts from a model that was trained with other labels."""

import numpy as np
import pytest

import modeling
from tests.support.checkpoints import read_checkpoint
from tests.support.log_lines import logged_warnings
from tests.support.models import built, tiny_config
from tests.support.tasks import toy_task

WARNING = "The head starts at random values: output_weights, output_bias"


class ToyTask(toy_task.ToyTask):
    """Classifies sequences by as many labels as it is told."""

    def __init__(self, starting_point, labels):
        super().__init__(starting_point, labels=labels)

    def create_model(self, bert_config, **arguments):
        return toy_task.BertClassifier(
            bert_config, len(self.labels), **arguments
        )


@pytest.fixture(scope="module")
def trained_folder(tmp_path_factory):
    """The folder of a classifier of two labels, whose bias is large."""
    folder = tmp_path_factory.mktemp("trained")
    flags = create_flags(folder)
    bert_config = modeling.load_config(flags["bert_config_file"])
    model = built(modeling.BertClassifier(bert_config, 2, seed=3))
    modeling.named_variables(model)["output_bias"].assign([40.0, 50.0])
    modeling.save_release(model, folder / "model", labels=["no", "yes"])
    return folder / "model"


def create_flags(folder, **changes):
    """Returns {flag: value} of a run of one step, which changes little."""
    return toy_task.create_run_flags(
        folder,
        max_seq_length=ToyTask.max_seq_length,
        num_train_epochs=0.4,
        learning_rate=1e-6,
        **changes,
    )


def train_step(folder, trained, labels):
    """Trains a step from a folder. Returns {name: value} of the result."""
    flags = create_flags(folder, do_train=True, init_checkpoint=str(trained))
    toy_task.run_task(ToyTask, flags, labels)
    return read_checkpoint(folder / "run", 1)


@pytest.mark.parametrize("labels", [["a", "b", "c"], ["a", "b"]])
def test_other_labels_start_with_a_new_head(
    tmp_path, trained_folder, caplog, labels
):
    weights = train_step(tmp_path, trained_folder, labels)
    assert weights["output_bias"].shape == (len(labels),)
    assert abs(weights["output_bias"]).max() < 1
    before = read_checkpoint(trained_folder / "bert_model.ckpt")
    name = "bert/pooler/dense/kernel"
    np.testing.assert_allclose(weights[name], before[name], atol=1e-4)
    assert caplog.text.count(WARNING) == 1
    assert "labels no, yes; the task has a, b" in caplog.text


def test_the_same_labels_keep_the_head(tmp_path, trained_folder, caplog):
    weights = train_step(tmp_path, trained_folder, ["yes", "no"])
    np.testing.assert_allclose(weights["output_bias"], [50, 40], atol=0.1)
    assert not logged_warnings(caplog)


def test_a_task_of_another_kind_starts_with_a_new_head(tmp_path, caplog):
    model = built(modeling.BertTokenClassifier(tiny_config(vocab_size=1600), 2))
    modeling.named_variables(model)["output_bias"].assign([40.0, 50.0])
    modeling.save_huggingface(model, tmp_path / "tagger")
    flags = create_flags(
        tmp_path, do_train=True, init_checkpoint=str(tmp_path / "tagger")
    )
    flags["bert_config_file"] = str(tmp_path / "tagger/config.json")
    toy_task.run_task(ToyTask, flags, ["no", "yes"])
    assert abs(read_checkpoint(tmp_path / "run", 1)["output_bias"]).max() < 1
    assert caplog.text.count(WARNING) == 1


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_a_command_that_does_not_train_refuses_other_labels(
    tmp_path, trained_folder, labels
):
    flags = create_flags(
        tmp_path, do_eval=True, init_checkpoint=str(trained_folder)
    )
    with pytest.raises(ValueError, match="was trained with the labels"):
        toy_task.run_task(ToyTask, flags, labels)
