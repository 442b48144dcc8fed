"""What the flags of every training command say."""

from training.config.training_options import DistillationOptions


def test_initial_blocks_are_the_numbers_in_init_layers():
    options = DistillationOptions(init_layers=["0", "2", "5"])
    assert options.initial_blocks == [0, 2, 5]


def test_without_init_layers_there_are_no_initial_blocks():
    assert DistillationOptions().initial_blocks is None
