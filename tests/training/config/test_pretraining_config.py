"""What the flags of pretraining decide together."""

import pytest

from training.config.pretraining_config import PretrainingConfig


@pytest.mark.parametrize(
    ("flags", "keeps_best"),
    [
        ({"do_train": True, "eval_input_file": "dev.tfrecord"}, True),
        ({"do_train": True}, False),
        ({"do_eval": True, "eval_input_file": "dev.tfrecord"}, False),
    ],
)
def test_a_training_with_held_out_records_keeps_the_best_step(
    flags, keeps_best
):
    config = PretrainingConfig.from_values(
        input_file="train.tfrecord",
        output_dir="run",
        **flags,
    )
    assert config.keeps_best == keeps_best


def test_the_fractions_of_masks_are_checked_before_any_file_is_read():
    config = PretrainingConfig.from_values(
        input_file="train.tfrecord",
        output_dir="run",
        mask_token_prob=0.8,
        same_token_prob=0.3,
    )
    with pytest.raises(ValueError, match=r"--same_token_prob=0\.3"):
        config.check_early()
