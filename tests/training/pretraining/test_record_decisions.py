"""Pretraining takes its lengths from the records, unless flags state them."""

import pytest

from options.parsed_command import ParsedCommand
from tests.support import pretraining_records
from training.config.pretraining_config import PretrainingConfig
from training.pretraining.record_decisions import decide_by_records


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder of records of 32 WordPieces: masked-* and unmasked-*."""
    folder = tmp_path_factory.mktemp("records")
    return pretraining_records.create_masked_and_unmasked(folder, num_shards=1)


@pytest.fixture
def decide_flags(folder):
    """A function (name of records, **flags) -> the flags that they decide."""

    def decide_flags(name, **flags):
        flags["input_file"] = str(folder / f"{name}-*")
        config = PretrainingConfig.from_values(output_dir="run", **flags)
        return decide_by_records(ParsedCommand(config, flags))

    return decide_flags


def test_masked_records_state_both_lengths(decide_flags):
    options = decide_flags("masked").config.pretraining
    assert options.max_seq_length == 32
    assert options.max_predictions_per_seq == 5


def test_the_length_of_the_records_wins_over_that_of_the_weights(decide_flags):
    stated = {"max_seq_length": 64}
    completed = decide_flags("masked").decide_if_open(stated, "model.json")
    assert completed.config.pretraining.max_seq_length == 32


def test_a_length_that_the_records_decide_is_not_in_the_command(decide_flags):
    """model.json records what the user typed as the command."""
    assert "max_seq_length" not in decide_flags("masked").typed_values


@pytest.mark.parametrize("name", ["max_seq_length", "max_predictions_per_seq"])
def test_a_flag_that_contradicts_masked_records_is_refused(decide_flags, name):
    flags = {name: 6}
    with pytest.raises(ValueError, match=rf"--{name}=6, but .*; set --{name}="):
        decide_flags("masked", **flags)


def test_a_flag_that_contradicts_unmasked_records_is_refused(decide_flags):
    with pytest.raises(ValueError, match="--max_seq_length=6, but"):
        decide_flags("unmasked", max_seq_length=6)


def test_training_masks_as_many_wordpieces_as_the_flag_says(decide_flags):
    options = decide_flags(
        "unmasked", max_predictions_per_seq=6
    ).config.pretraining
    assert options.max_predictions_per_seq == 6


def test_records_to_evaluate_must_be_as_long(decide_flags, folder, tmp_path):
    pretraining_records.create_records(
        tmp_path,
        "short",
        max_seq_length=16,
        max_predictions_per_seq=5,
        num_shards=1,
    )
    says = "--max_seq_length=32, but .* --eval_input_file"
    with pytest.raises(ValueError, match=says):
        decide_flags("masked", eval_input_file=str(tmp_path / "short-*"))
