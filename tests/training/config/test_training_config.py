"""Flags of all training scripts: what they say, and which contradict."""

import pytest

from tests.support.tasks.toy_task import create_config
from training.config.training_config import DistillationOptions


def check_flags(*given, **flags):
    """Checks the flags of a training."""
    create_config("run", do_train=True, **flags).check(frozenset(given))


def test_a_command_that_asks_for_nothing_is_refused():
    with pytest.raises(ValueError, match="nothing to do: set --do_train or"):
        create_config("run").check(frozenset())


def test_litert_has_no_lstm_of_any_length():
    with pytest.raises(ValueError, match="--export_format"):
        check_flags(
            bilstm=True,
            export_dir="export",
            export_format="saved_model,litert",
        )


@pytest.mark.parametrize(
    "name", ["distill_temperature", "distill_alpha", "distill_hidden"]
)
def test_flags_of_a_distillation_need_its_teacher(name):
    with pytest.raises(ValueError, match=f"--{name} needs --teacher"):
        check_flags(name)


def test_blocks_are_copied_only_from_weights():
    with pytest.raises(ValueError, match="--init_layers needs --init_check"):
        check_flags(init_layers=[0, 2])


def test_blocks_are_copied_from_the_teacher_without_other_weights():
    config = create_config("run", teacher="large", init_layers=[0, 2])
    assert config.initial_checkpoint == "large"


def test_a_teacher_is_not_the_initial_checkpoint():
    assert create_config("run", teacher="large").initial_checkpoint is None


def test_accumulated_batches_are_one_update():
    config = create_config(
        "run", train_batch_size=8, gradient_accumulation_steps=4
    )
    assert config.batch_size == 32


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"trim_padding": True}, True),
        ({"trim_padding": False}, False),
        ({"trim_padding": True, "jit_compile": True}, False),
        ({"trim_padding": True, "use_tpu": True}, False),
    ],
)
def test_padding_is_left_out_only_where_shapes_may_vary(flags, expected):
    assert create_config("run", **flags).trims_padding is expected


def test_model_json_gets_the_flags_of_a_training_as_json():
    entry = create_config("run", init_layers=("0", "2")).to_flags_entry()
    assert entry["init_layers"] == ["0", "2"]


def test_model_json_gets_no_paths_and_no_flags_that_may_change():
    entry = create_config("run", teacher="large").to_flags_entry()
    assert not {"teacher", "output_dir", "do_eval"} & entry.keys()


def test_initial_blocks_are_the_numbers_in_init_layers():
    options = DistillationOptions(init_layers=["0", "2", "5"])
    assert options.initial_blocks == [0, 2, 5]


def test_without_init_layers_there_are_no_initial_blocks():
    assert DistillationOptions().initial_blocks is None
