"""Rows of a dev set that the weights may have been trained on are named.

tests/across_scripts/test_recorded_decisions.py tests it with real runs.
"""

import dataclasses

import pytest

from command_line import config_values
from data.classification.table_tasks.table_options import TableOptions
from data.classification.table_tasks.table_task_specs import TABLE_TASK_SPECS
from data.sets.data_file_split import DataFileOptions
from data.sets.row_keys import RULE_VERSION
from model_folders import kinds
from model_folders.reading.presets import Preset
from model_folders.recorded_sets import DevSetRule
from tests.support.tasks import toy_task
from training.config.classifier_config import ClassifierConfig
from training.preparation.dev_set_rule import choose_dev_set_rule

FRACTION = 0.2
KEY = ("text",)


FILE_SETS = (
    TABLE_TASK_SPECS["csv"]
    .create_processor(
        None,
        DataFileOptions(data_file="table.csv"),
        TableOptions(),
        set_by_user=frozenset(),
    )
    .file_sets
)


def create_start(preset):
    """Returns the start of a command that holds out FRACTION of a table."""
    flags = toy_task.create_flags(
        "run",
        data_dir=None,
        data_file="table.csv",
        dev_fraction=FRACTION,
        task_name="csv",
    )
    config = config_values.create_config(ClassifierConfig, **flags)
    start = toy_task.create_start(config, None)
    return dataclasses.replace(start, preset=preset)


def on_sets(
    dev_set_rule=None, task_name="csv", model_class=kinds.CLASSIFIER, command=()
):
    """Returns weights of a run on sets that the user made.

    `dev_set_rule` is that of a run that it started from.
    """
    return Preset(
        "run",
        weights_path="run",
        flag="--init_checkpoint",
        model_class=model_class,
        recorded_settings={
            "task_name": task_name,
            "data": [["train", "train.csv", 9, 5]],
        },
        dev_set_rule=dev_set_rule,
        model_json={"origin": {"command": dict(command)}},
    )


def on_table(dev_fraction, clean_fraction, rule=RULE_VERSION, key=KEY):
    """Returns weights of a run that held out a part of its table."""
    dev_set_rule = DevSetRule(rule, dev_fraction, key, clean_fraction)
    return on_sets(dev_set_rule, command={"data_file": "table.csv"})


@pytest.mark.parametrize(
    "preset",
    [
        pytest.param(None, id="random weights"),
        pytest.param(Preset("bert"), id="weights that no run wrote"),
        pytest.param(on_sets(task_name="MRPC"), id="another task"),
        pytest.param(
            on_sets(model_class=kinds.TOKEN_CLASSIFIER), id="another head"
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
def test_untrained_rows_are_not_in_doubt(preset, caplog):
    start = choose_dev_set_rule(create_start(preset), FILE_SETS)
    assert start.dev_set_rule == DevSetRule(
        RULE_VERSION, FRACTION, KEY, FRACTION
    )
    assert not caplog.text


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
            on_table(0.2, 0.2, rule=RULE_VERSION + 1),
            0.0,
            "--init_checkpoint=run chose its dev set in another way",
            id="another rule",
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
def test_possibly_trained_rows_are_in_doubt(
    preset, clean_fraction, reason, caplog
):
    start = choose_dev_set_rule(create_start(preset), FILE_SETS)
    expected = DevSetRule(RULE_VERSION, FRACTION, KEY, clean_fraction)
    assert start.dev_set_rule == expected
    assert expected.is_doubtful
    assert "Rows of this dev set may have been trained on" in caplog.text
    assert reason in caplog.text
