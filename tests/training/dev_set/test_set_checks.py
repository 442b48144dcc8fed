"""Scores on rows of the train set are refused, or come with a warning."""

import dataclasses
import re

import pytest

from data.sets.row_keys import RULE_VERSION
from model_folders.reading.presets import Preset
from options import config_values
from tests.support.tasks import toy_task
from training.config.classifier_config import ClassifierConfig
from training.config.fine_tuning_config import FineTuningConfig
from training.dev_set.recorded_sets import DevSetRule, RecordedSet
from training.dev_set.set_checks import (
    DevSetCase,
    compare_dev_set,
    report_finding,
)

# Checksums of three files.
TRAIN, DEV, OTHER = 5, 6, 7
TRAINED_ON_SETS = (
    ["train", "train.csv", 9, TRAIN],
    ["eval", "dev.csv", 4, DEV],
)
RULE = DevSetRule(RULE_VERSION, 0.2, ("text",), clean_fraction=0.2)
DOUBTFUL_RULE = dataclasses.replace(RULE, clean_fraction=0.0)
OTHER_RULE = DevSetRule(RULE_VERSION, 0.1, ("text",), clean_fraction=0.1)


def own_run(rule=None, sets=TRAINED_ON_SETS, **attributes):
    """Returns the run in --output_dir, which read `sets` by `rule`."""
    settings = {"data": [*sets]}
    if rule:
        settings["split"] = rule.to_entry()
    return Preset(
        "run",
        weights_path="run",
        flag="--output_dir",
        is_own_run=True,
        recorded_settings=settings,
        **attributes,
    )


def first_weights(rule=None, **attributes):
    """Returns weights of a run from which a command starts a new one."""
    return dataclasses.replace(
        own_run(rule, **attributes),
        weights_path="first",
        flag="--init_checkpoint",
        is_own_run=False,
    )


# What model.json records of a command that cut a table into its sets.
ON_TABLE = {"origin": {"command": {"data_file": "train.csv"}}}


def create_start(
    preset, rule=None, config_class=ClassifierConfig, do_train=False
):
    """Returns the start of a command that scores a dev set."""
    flags = toy_task.create_flags("run", do_train=do_train, do_eval=True)
    config = config_values.create_config(config_class, **flags)
    start = toy_task.create_start(config, None)
    return dataclasses.replace(start, preset=preset, dev_set_rule=rule)


def dev_set(checksum, num_rows=4):
    """Returns the sets of a command that reads only a dev set, now.csv."""
    return {"eval": RecordedSet("eval", "now.csv", num_rows, checksum)}


def find_and_check(start, sets):
    """Checks the dev set, as a command does. Returns its case."""
    finding = compare_dev_set(
        start.config, start.preset, start.dev_set_rule, sets
    )
    report_finding(finding)
    return finding.case


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(create_start(own_run()), id="both on sets of the user"),
        pytest.param(
            create_start(own_run(), RULE), id="only the command cuts a table"
        ),
        pytest.param(
            create_start(own_run(model_json=ON_TABLE)),
            id="only the run cut a table",
        ),
    ],
)
def test_a_run_is_not_scored_on_its_train_set(start):
    says = re.escape(
        "now.csv: --output_dir=run was trained on this file (9 rows of "
        "train.csv), so the dev set contains rows of the train set. Nothing is "
        "scored. To answer other rows, use predict.py; to train on them, set "
        "another --output_dir"
    )
    with pytest.raises(ValueError, match=f"^{says}$"):
        find_and_check(start, dev_set(TRAIN))


@pytest.mark.parametrize(
    ("start", "sets"),
    [
        pytest.param(create_start(None), dev_set(TRAIN), id="random weights"),
        pytest.param(
            create_start(own_run()), dev_set(OTHER), id="another file"
        ),
        pytest.param(create_start(own_run()), {}, id="no dev set"),
        pytest.param(
            create_start(own_run(sets=())),
            dev_set(TRAIN),
            id="a run that records no sets",
        ),
        pytest.param(
            create_start(own_run(), do_train=True),
            dev_set(TRAIN),
            id="a resume",
        ),
        pytest.param(
            create_start(first_weights()), dev_set(TRAIN), id="a new run"
        ),
        pytest.param(
            create_start(own_run(model_json=ON_TABLE), RULE),
            dev_set(TRAIN),
            id="both cut the table",
        ),
        pytest.param(
            create_start(own_run(), config_class=FineTuningConfig),
            dev_set(TRAIN),
            id="a script without --data_file",
        ),
    ],
)
def test_a_run_is_scored_on_what_is_not_its_train_set(start, sets):
    find_and_check(start, sets)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(
            create_start(first_weights(), do_train=True), id="sets of the user"
        ),
        pytest.param(
            create_start(first_weights(), RULE, do_train=True),
            id="a table that is not in doubt",
        ),
        pytest.param(create_start(first_weights()), id="only an evaluation"),
    ],
)
def test_a_dev_set_that_the_first_weights_were_trained_on_is_named(
    start, caplog
):
    find_and_check(start, dev_set(TRAIN))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert message.startswith("now.csv: --init_checkpoint=first ")
    assert "(9 rows of train.csv)" in message


def test_an_evaluation_that_replaces_scores_names_both_dev_sets(caplog):
    find_and_check(create_start(own_run()), dev_set(OTHER))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert message.startswith("now.csv is not the dev set of --output_dir=run")
    assert "dev.csv" in message


@pytest.mark.parametrize(
    ("start", "sets"),
    [
        pytest.param(create_start(None), dev_set(TRAIN), id="random weights"),
        pytest.param(
            create_start(first_weights()),
            dev_set(OTHER),
            id="a new run on another file",
        ),
        pytest.param(
            create_start(first_weights(), DOUBTFUL_RULE),
            dev_set(TRAIN),
            id="a table whose doubt was logged before",
        ),
        pytest.param(
            create_start(first_weights(model_json=ON_TABLE), RULE),
            dev_set(TRAIN),
            id="both cut the table",
        ),
        pytest.param(
            create_start(own_run()), dev_set(DEV), id="the dev set of the run"
        ),
        pytest.param(
            create_start(own_run(sets=TRAINED_ON_SETS[:1])),
            dev_set(OTHER),
            id="a run without a dev set",
        ),
        pytest.param(
            create_start(own_run(), RULE),
            dev_set(OTHER),
            id="a table, whose scores are not written",
        ),
        pytest.param(
            create_start(own_run(), do_train=True),
            dev_set(OTHER),
            id="a resume",
        ),
        pytest.param(create_start(own_run()), {}, id="no dev set"),
        pytest.param(
            create_start(own_run(), config_class=FineTuningConfig),
            dev_set(OTHER),
            id="a script without --data_file",
        ),
    ],
)
def test_expected_scores_come_without_a_warning(start, sets, caplog):
    find_and_check(start, sets)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("run", "sets"),
    [
        pytest.param(own_run(RULE), dev_set(OTHER), id="other rows"),
        pytest.param(
            own_run(RULE),
            dev_set(DEV, num_rows=3),
            id="fewer rows",
        ),
        pytest.param(own_run(OTHER_RULE), dev_set(DEV), id="another rule"),
        pytest.param(own_run(), dev_set(DEV), id="a run on sets of the user"),
        pytest.param(
            own_run(RULE, sets=TRAINED_ON_SETS[:1]),
            dev_set(DEV),
            id="a run without a dev set",
        ),
    ],
)
def test_another_part_of_a_table_is_another_dev_set(run, sets):
    case = find_and_check(create_start(run, RULE), sets)
    assert case is DevSetCase.OTHER_ROWS
    assert not case.may_write_scores


@pytest.mark.parametrize(
    ("start", "sets"),
    [
        pytest.param(
            create_start(own_run(RULE), RULE),
            dev_set(DEV),
            id="the rows of the run, in another file",
        ),
        pytest.param(
            create_start(own_run(RULE)),
            dev_set(OTHER),
            id="a command that cuts no table",
        ),
        pytest.param(
            create_start(own_run(RULE), RULE, do_train=True),
            dev_set(OTHER),
            id="a resume",
        ),
        pytest.param(
            create_start(first_weights(RULE), RULE),
            dev_set(OTHER),
            id="weights of another folder",
        ),
        pytest.param(
            create_start(None, RULE), dev_set(OTHER), id="random weights"
        ),
        pytest.param(create_start(own_run(RULE), RULE), {}, id="no dev set"),
    ],
)
def test_scores_of_all_other_commands_may_be_written(start, sets):
    assert find_and_check(start, sets).may_write_scores


def test_scores_on_another_part_of_a_table_are_only_shown(caplog):
    start = create_start(own_run(RULE), RULE)
    with caplog.at_level("INFO", logger="absl"):
        find_and_check(start, dev_set(OTHER))
    assert caplog.messages == [
        "This is not the dev set of --output_dir=run. The scores are only "
        "shown, and the files of the run stay as they are. To write them, set "
        "another --output_dir, with --init_checkpoint=run"
    ]
