"""What a task is refused or warned of: output modes, weights and labels."""

import dataclasses
import itertools
import json

import pytest

import modeling
from model_folders.reading.preset import read_preset
from options.parsed_command import ParsedCommand
from tests.support.log_lines import logged_warnings
from tests.support.models import built, tiny_config
from tests.support.tasks.toy_task import ToyTask, create_flags, load_tokenizer
from tests.support.weights.huggingface_files import write_huggingface_files
from training.config.fine_tuning_config import FineTuningConfig
from training.preparation import start_checks
from training.starting_point import InitialFolder, StartingPoint

MNLI = ["contradiction", "entailment", "neutral"]


def check_task(
    folder,
    head,
    labels=(),
    is_own_run=False,
    task_class=ToyTask,
    **fixed_head_settings,
):
    """Checks a folder for the task of a command that does not train.

    Returns the task.
    """

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Config(FineTuningConfig):
        model_class = head

    preset = read_preset(folder)
    starting_point = StartingPoint(
        parsed=ParsedCommand(Config.from_values(**create_flags("run"))),
        initial_folder=InitialFolder(preset, is_own_run=is_own_run),
        bert_config=preset.load_config() or tiny_config(),
        tokenizer=load_tokenizer(),
    )
    task = task_class(
        starting_point, labels=labels, fixed_head_settings=fixed_head_settings
    )
    start_checks.check_task(task)
    return task


def describe_model(folder, **task):
    """Writes the description of a model."""
    text = json.dumps({"version": 1, "task": task, "origin": {}})
    (folder / "model.json").write_text(text)


def check_is_multilabel(folder, wrong_mode):
    """Checks that a folder's output mode is multilabel, and not another."""
    check_task(folder, None, output_mode="multilabel")
    with pytest.raises(ValueError, match=f"received {wrong_mode}"):
        check_task(folder, None, output_mode=wrong_mode)


@pytest.mark.parametrize("wrong_mode", ["classification", "regression"])
def test_an_output_mode_that_a_run_contradicts_is_refused(tmp_path, wrong_mode):
    describe_model(tmp_path, output_mode="multilabel")
    check_is_multilabel(tmp_path, wrong_mode)


@pytest.mark.parametrize("wrong_mode", ["classification", "regression"])
def test_an_output_mode_that_another_library_contradicts_is_refused(
    tmp_path, wrong_mode
):
    write_huggingface_files(
        tmp_path, {}, problem_type="multi_label_classification"
    )
    check_is_multilabel(tmp_path, wrong_mode)


@pytest.fixture
def tagger(tmp_path):
    """The folder of a model of four tags."""
    model = built(modeling.BertTokenClassifier(tiny_config(), 4))
    modeling.save_huggingface(model, tmp_path / "tagger")
    return tmp_path / "tagger"


class SelectiveTask(ToyTask):
    """A task that accepts no weights."""

    def check_preset(self, preset):
        raise ValueError(f"no weights of {preset.folder}, please")


def test_a_task_may_refuse_the_weights(tagger):
    with pytest.raises(ValueError, match=f"no weights of {tagger}"):
        check_task(tagger, "BertTokenClassifier", task_class=SelectiveTask)


def test_outputs_without_names_are_warned_of(tagger, caplog):
    task = check_task(tagger, "BertTokenClassifier", ["O", "A", "B", "C"])
    start_checks.warn_of_labels(task)
    assert "does not name its outputs" in caplog.text


@pytest.mark.parametrize("saved", [["anger", "joy", "fear"], MNLI[::-1]])
def test_labels_of_another_task_are_refused(saved, tmp_path):
    (tmp_path / "labels.txt").write_text("\n".join(saved) + "\n")
    with pytest.raises(ValueError, match=saved[0]):
        check_task(tmp_path, None, MNLI, is_own_run=True)


def test_labels_that_differ_in_spelling_are_warned_of(tagger, caplog):
    """They would be trained and scored as different classes."""
    same = [["Yes", "yes"], ["caf\u00e9", "cafe\u0301"]]
    same.append(["good day", "good\u00a0day", "good day\u200b"])
    labels = ["no", *itertools.chain(*same), "2"]
    task = check_task(tagger, "BertTokenClassifier", labels)
    start_checks.warn_of_labels(task)
    assert logged_warnings(caplog)
    for group in same:
        assert str(group) in caplog.text
