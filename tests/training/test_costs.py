"""Compares the memory a run says it needs with what it took."""

import json
import re
import types

import pytest

import modeling
from tests import script_runner
from tests.conftest import write_config
from tests.models import built
from training import costs
from training.callbacks import memory_check

LENGTH, NUM_PREDICTIONS = 32, 5


@pytest.fixture(scope="module")
def config_file(tmp_path_factory):
    """A model whose activations need more than TensorFlow itself."""
    path = tmp_path_factory.mktemp("config") / "config.json"
    sizes = {"hidden_size": 256, "intermediate_size": 1024}
    return write_config(path, num_hidden_layers=8, **sizes)


@pytest.mark.parametrize(
    "batch_size, more",
    [
        pytest.param(128, {}, marks=pytest.mark.slow),
        *(
            pytest.param(512, more, marks=pytest.mark.soak)
            for more in (
                {},
                {"gradient_checkpointing": True},
                {"mixed_precision": "bfloat16"},
                {"gradient_accumulation_steps": 2},
                {
                    "gradient_accumulation_steps": 2,
                    "gradient_checkpointing": True,
                },
            )
        ),
    ],
)
def test_the_memory_that_is_said_is_right_within_a_factor_of_two(
    batch_size, more, pretraining_flags, config_file, tmp_path
):
    flags = pretraining_flags | {
        "bert_config_file": config_file,
        "output_dir": tmp_path / "run",
        "do_train": True,
        "num_train_steps": 2,
        "summary_steps": 0,
        "train_batch_size": batch_size,
        **more,
    }
    script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    model = built(modeling.BertPretrainer(modeling.load_config(config_file)))
    options = types.SimpleNamespace(**summary["all_flags"])
    needed = costs.training_memory(model, options, LENGTH, NUM_PREDICTIONS)
    message = memory_check.out_of_memory(needed, options)
    needed = float(re.search(r"needs about ([\d.]+) GiB", message)[1])
    assert 0.5 < needed / (summary["peak_memory_bytes"] / 2**30) < 2
