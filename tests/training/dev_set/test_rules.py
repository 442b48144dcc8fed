"""Rows of a dev set that the weights may have been trained on are named.

tests/across_scripts/test_recorded_decisions.py tests it with real runs.
"""

import pytest

from data.sets.text_keys import RULE_VERSION
from model_folders.kinds import ModelClass
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from tests.support.tasks import toy_task
from training.config.classifier_config import ClassifierConfig
from training.dev_set.rules import (
    DevSetRule,
    choose_dev_set_rule,
    choose_dev_set_rule_to_record,
)

FRACTION = 0.2
KEY = ("text",)


def create_config():
    """Returns the flags of a command that holds out FRACTION of a table."""
    flags = toy_task.create_flags(
        "run",
        data_dir=None,
        data_file="table.csv",
        dev_fraction=FRACTION,
        task_name="csv",
    )
    return ClassifierConfig.from_values(**flags)


def on_sets(
    dev_set_rule=None,
    task_name="csv",
    model_class=ModelClass.CLASSIFIER,
    command=(),
):
    """Returns weights of a run on sets that the user made.

    `dev_set_rule` is that of a run that it started from.
    """
    inputs = {"data": [["train", "train.csv", 9, 5]]}
    if dev_set_rule:
        inputs["split"] = dev_set_rule.to_entry()
    return Preset(
        "run",
        weights_path="run",
        source="--init_checkpoint=run",
        model_class=model_class,
        training_settings=TrainingSettings({"task_name": task_name}, inputs),
        model_json={"origin": {"command": dict(command)}},
    )


def on_table(dev_fraction, clean_fraction, version=RULE_VERSION, key=KEY):
    """Returns weights of a run that held out a part of its table."""
    dev_set_rule = DevSetRule(version, dev_fraction, key, clean_fraction)
    return on_sets(dev_set_rule, command={"data_file": "table.csv"})


@pytest.mark.parametrize(
    "preset",
    [
        pytest.param(None, id="random weights"),
        pytest.param(Preset("bert"), id="weights that no run wrote"),
        pytest.param(on_sets(task_name="MRPC"), id="another task"),
        pytest.param(
            on_sets(model_class=ModelClass.TOKEN_CLASSIFIER), id="another head"
        ),
        pytest.param(on_table(0.2, 0.2), id="the same part"),
        pytest.param(on_table(0.5, 0.5), id="a larger part"),
        pytest.param(on_table(0.5, 0.2), id="the same part, by its start"),
        pytest.param(
            on_sets(DevSetRule(RULE_VERSION, 0.3, KEY, 0.3), task_name="MRPC"),
            id="another task, after a larger part",
        ),
    ],
)
def test_a_dev_set_of_new_rows_is_trusted(preset):
    rule, doubt = choose_dev_set_rule(preset, create_config(), KEY)
    assert rule == DevSetRule(RULE_VERSION, FRACTION, KEY, FRACTION)
    assert not rule.is_doubtful
    assert not doubt


@pytest.mark.parametrize(
    ("preset", "clean_fraction", "reason"),
    [
        pytest.param(
            on_sets(),
            0.0,
            "--init_checkpoint=run chose its dev set in another way",
            id="sets of the user",
        ),
        pytest.param(
            on_sets(DevSetRule(RULE_VERSION, 0.3, KEY, 0.3)),
            0.0,
            "--init_checkpoint=run chose its dev set in another way",
            id="sets of the user, after a larger part",
        ),
        pytest.param(
            on_sets(DevSetRule(RULE_VERSION, 0.1, KEY, 0.1)),
            0.0,
            "--init_checkpoint=run chose its dev set in another way",
            id="sets of the user, after a smaller part",
        ),
        pytest.param(
            on_table(0.2, 0.2, version=RULE_VERSION + 1),
            0.0,
            "--init_checkpoint=run chose its dev set in another way",
            id="another version of the rule",
        ),
        pytest.param(
            on_table(0.2, 0.2, key=("a", "b")),
            0.0,
            "chose its dev set by 'a' and 'b', and this command chooses by "
            "'text'",
            id="other columns",
        ),
        pytest.param(
            on_table(0.1, 0.1),
            0.1,
            "--init_checkpoint=run was trained with --dev_fraction=0.1, and "
            "this dev set is of --dev_fraction=0.2",
            id="a smaller part",
        ),
        pytest.param(
            on_table(0.5, 0.1),
            0.1,
            "a start of --init_checkpoint=run was trained with "
            "--dev_fraction=0.1",
            id="a smaller part, by its start",
        ),
        pytest.param(
            on_table(0.5, 0.0),
            0.0,
            "a start of --init_checkpoint=run chose its dev set in another way",
            id="sets of the user, by its start",
        ),
    ],
)
def test_a_dev_set_of_rows_maybe_trained_on_is_doubtful(
    preset, clean_fraction, reason
):
    rule, doubt = choose_dev_set_rule(preset, create_config(), KEY)
    assert rule == DevSetRule(RULE_VERSION, FRACTION, KEY, clean_fraction)
    assert rule.is_doubtful
    assert reason in doubt


def test_a_run_on_sets_of_the_user_records_the_rule_of_its_start():
    rule = DevSetRule(RULE_VERSION, 0.3, KEY, 0.3)
    assert choose_dev_set_rule_to_record(None, on_sets(rule)) == rule


def test_a_run_on_a_table_records_its_own_rule():
    rule = DevSetRule(RULE_VERSION, 0.2, KEY, 0.2)
    assert choose_dev_set_rule_to_record(rule, on_table(0.3, 0.3)) == rule


def test_a_run_from_random_weights_on_sets_of_the_user_records_no_rule():
    assert choose_dev_set_rule_to_record(None, None) is None
