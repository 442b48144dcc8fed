"""How a dev set relates to the sets of its weights, and what the user reads."""

import dataclasses
import re
from typing import NamedTuple

import pytest

from data.sets.text_keys import RULE_VERSION
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from tests.support.tasks import toy_task
from training.config.classifier_config import ClassifierConfig
from training.config.fine_tuning_config import FineTuningConfig
from training.dev_set.comparison import (
    DevSetCase,
    DevSetComparison,
    compare_dev_set,
)
from training.dev_set.rules import DevSetRule
from training.dev_set.set_fingerprints import DEV_SET, SetFingerprint

# Checksums of three files.
TRAIN, DEV, OTHER = 5, 6, 7
TRAINED_ON_SETS = (
    ["train", "train.csv", 9, TRAIN],
    ["eval", "dev.csv", 4, DEV],
)
RULE = DevSetRule(RULE_VERSION, 0.2, ("text",), clean_fraction=0.2)
DOUBTFUL_RULE = dataclasses.replace(RULE, clean_fraction=0.0)
OTHER_RULE = DevSetRule(RULE_VERSION, 0.1, ("text",), clean_fraction=0.1)


def run_preset(rule=None, sets=TRAINED_ON_SETS, *, has_table=False):
    """Returns the run in --output_dir, which read `sets` by `rule`.

    With `has_table`, the run cut a table into its sets.
    """
    inputs = {"data": [*sets]}
    if rule:
        inputs["split"] = rule.to_entry()
    command = {"data_file": "train.csv"} if has_table else {}
    return Preset(
        "run",
        weights_path="run",
        source="--output_dir=run",
        training_settings=TrainingSettings(inputs=inputs),
        model_json={"origin": {"command": command}},
    )


def first_weights(rule=None, **run):
    """Returns weights of a run from which a command starts a new one."""
    return dataclasses.replace(
        run_preset(rule, **run),
        folder="first",
        weights_path="first",
        source="--init_checkpoint=first",
    )


class Command(NamedTuple):
    """A command that evaluates.

    Attributes:
        checksum: checksum of its dev set now.csv, None without a dev set.
        rule: rule by which it cuts a table, None without a table.
        num_rows: number of rows in its dev set.
        do_train: whether it trains too.
        config_class: the flags of its script.
    """

    checksum: int | None
    rule: DevSetRule | None = None
    num_rows: int = 4
    do_train: bool = False
    config_class: type[FineTuningConfig] = ClassifierConfig


def compare(weights, command):
    """Compares and reports the dev set of a command. Returns the case."""
    flags = toy_task.create_flags(
        "run", do_train=command.do_train, do_eval=True
    )
    config = command.config_class.from_values(**flags)
    set_fingerprints = {}
    if command.checksum is not None:
        set_fingerprints[DEV_SET] = SetFingerprint(
            DEV_SET, "now.csv", command.num_rows, command.checksum
        )
    comparison = compare_dev_set(
        config,
        set_fingerprints,
        weights,
        dev_set_rule=command.rule,
        is_own_run=weights is not None and weights.folder == "run",
    )
    comparison.log_or_raise()
    return comparison.case


RANDOM_WEIGHTS = None
RUN = run_preset()
RUN_ON_TABLE = run_preset(has_table=True)
RUN_BY_RULE = run_preset(RULE)
RUN_BY_OTHER_RULE = run_preset(OTHER_RULE)
RUN_WITHOUT_SETS = run_preset(sets=())
RUN_WITHOUT_DEV_SET = run_preset(sets=TRAINED_ON_SETS[:1])
RUN_BY_RULE_WITHOUT_DEV_SET = run_preset(RULE, sets=TRAINED_ON_SETS[:1])
FIRST_WEIGHTS = first_weights()
FIRST_WEIGHTS_OF_TABLE = first_weights(has_table=True)
FIRST_WEIGHTS_BY_RULE = first_weights(RULE)

# For each case but the error: (the weights, the command, what they are).
SITUATIONS = {
    DevSetCase.EXPECTED: [
        (RANDOM_WEIGHTS, Command(TRAIN), "random weights"),
        (RANDOM_WEIGHTS, Command(OTHER, RULE), "random weights and a table"),
        (RUN, Command(None), "no dev set"),
        (RUN_BY_RULE, Command(None, RULE), "no dev set of a table"),
        (RUN, Command(DEV), "the dev set of the run"),
        (RUN_WITHOUT_SETS, Command(TRAIN), "a run that records no sets"),
        (RUN_WITHOUT_DEV_SET, Command(OTHER), "a run without a dev set"),
        (RUN, Command(TRAIN, do_train=True), "a resume on the train set"),
        (RUN, Command(OTHER, do_train=True), "a resume on another file"),
        (
            RUN_BY_RULE,
            Command(OTHER, RULE, do_train=True),
            "a resume on other rows",
        ),
        (RUN_BY_RULE, Command(DEV, RULE), "the rows of the run"),
        (
            RUN,
            Command(TRAIN, config_class=FineTuningConfig),
            "no --data_file, train set",
        ),
        (
            RUN,
            Command(OTHER, config_class=FineTuningConfig),
            "no --data_file, another file",
        ),
        (FIRST_WEIGHTS, Command(OTHER), "a new run on another file"),
        (FIRST_WEIGHTS_BY_RULE, Command(OTHER, RULE), "a new run on a table"),
        (FIRST_WEIGHTS_OF_TABLE, Command(TRAIN, RULE), "both cut the table"),
    ],
    DevSetCase.SEEN_BY_OTHER_WEIGHTS: [
        (FIRST_WEIGHTS, Command(TRAIN), "only an evaluation"),
        (FIRST_WEIGHTS, Command(TRAIN, do_train=True), "a new run"),
        (
            FIRST_WEIGHTS,
            Command(TRAIN, RULE, do_train=True),
            "a new run on a table that is not in doubt",
        ),
    ],
    DevSetCase.DOUBTED_BY_RULE: [
        (FIRST_WEIGHTS, Command(TRAIN, DOUBTFUL_RULE), "a table in doubt"),
    ],
    DevSetCase.OTHER_ROWS: [
        (RUN_BY_RULE, Command(OTHER, RULE), "other rows"),
        (RUN_BY_RULE, Command(DEV, RULE, num_rows=3), "fewer rows"),
        (RUN_BY_OTHER_RULE, Command(DEV, RULE), "another rule"),
        (RUN, Command(DEV, RULE), "a run on sets of the user"),
        (RUN_ON_TABLE, Command(TRAIN, RULE), "a run without a rule"),
        (
            RUN_BY_RULE_WITHOUT_DEV_SET,
            Command(DEV, RULE),
            "a run by a rule without a dev set",
        ),
    ],
    DevSetCase.OTHER_FILE: [
        (RUN, Command(OTHER), "another file"),
        (RUN_BY_RULE, Command(OTHER), "only the run cut a table"),
    ],
}


@pytest.mark.parametrize(
    ("weights", "command", "case"),
    [
        pytest.param(weights, command, case, id=f"{case.name}: {what}")
        for case, situations in SITUATIONS.items()
        for weights, command, what in situations
    ],
)
def test_each_situation_of_a_dev_set_is_recognized(weights, command, case):
    assert compare(weights, command) is case


@pytest.mark.parametrize(
    ("weights", "command"),
    [
        pytest.param(RUN, Command(TRAIN), id="both on sets of the user"),
        pytest.param(
            RUN, Command(TRAIN, RULE), id="only the command cuts a table"
        ),
        pytest.param(
            RUN_ON_TABLE, Command(TRAIN), id="only the run cut a table"
        ),
    ],
)
def test_a_run_is_not_scored_on_a_file_that_it_was_trained_on(weights, command):
    with pytest.raises(ValueError, match="the dev set contains rows of the"):
        compare(weights, command)


def test_only_scores_on_other_rows_are_not_written():
    written = {
        case for case in DevSetCase if DevSetComparison(case).may_write_scores
    }
    assert {*DevSetCase} - written == {DevSetCase.OTHER_ROWS}


@pytest.mark.parametrize(
    ("weights", "command"),
    [
        pytest.param(RUN, Command(DEV), id="the expected dev set"),
        pytest.param(
            FIRST_WEIGHTS,
            Command(TRAIN, DOUBTFUL_RULE),
            id="a doubt that was logged before",
        ),
    ],
)
def test_a_trusted_dev_set_is_silent(weights, command, caplog):
    with caplog.at_level("INFO", logger="absl"):
        compare(weights, command)
    assert caplog.messages == []


def test_a_dev_set_that_the_run_was_trained_on_is_an_error():
    says = re.escape(
        "now.csv: --output_dir=run was trained on this file (9 rows of "
        "train.csv), so the dev set contains rows of the train set. Nothing is "
        "scored. To answer other rows, use predict.py; to train on them, set "
        "another --output_dir"
    )
    with pytest.raises(ValueError, match=f"^{says}$"):
        compare(RUN, Command(TRAIN))


def test_a_dev_set_that_the_first_weights_were_trained_on_is_named(caplog):
    compare(FIRST_WEIGHTS, Command(TRAIN))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert message.startswith("now.csv: --init_checkpoint=first ")
    assert "(9 rows of train.csv)" in message


def test_an_evaluation_that_replaces_scores_names_both_dev_sets(caplog):
    compare(RUN, Command(OTHER))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert message.startswith("now.csv is not the dev set of --output_dir=run")
    assert "dev.csv" in message


def test_scores_on_another_part_of_a_table_are_only_shown(caplog):
    with caplog.at_level("INFO", logger="absl"):
        compare(RUN_BY_RULE, Command(OTHER, RULE))
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert record.getMessage() == (
        "This is not the dev set of --output_dir=run. The scores are only "
        "shown, and the files of the run stay as they are. To write them, set "
        "another --output_dir, with --init_checkpoint=run"
    )
