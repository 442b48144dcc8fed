"""Compares the memory a run says it needs with what it took."""

import json
import re
import types

import pytest

import modeling
from tests import script_runner
from training import costs
from training.callbacks import memory_check

LENGTH, NUM_PREDICTIONS = 32, 5


@pytest.fixture(scope="module")
def config_file(tiny, tmp_path_factory):
    """A model whose activations need more than TensorFlow itself."""
    path = tmp_path_factory.mktemp("config") / "config.json"
    config = json.loads((tiny / "bert_config.json").read_text())
    config |= {
        "hidden_size": 256,
        "num_hidden_layers": 8,
        "intermediate_size": 1024,
    }
    path.write_text(json.dumps(config))
    return path


def estimate_and_peak(pretraining_flags, config_file, folder, **more):
    """Returns GiB: what the message would say, and what the run took."""
    flags = {
        **pretraining_flags,
        "bert_config_file": config_file,
        "output_dir": folder / "run",
        "do_train": True,
        "num_train_steps": 2,
        "summary_steps": 0,
        **more,
    }
    script_runner.run("run_pretraining.py", folder, **flags).check()
    summary = json.loads((folder / "run" / "summary.json").read_text())
    model = modeling.BertPretrainer(
        modeling.BertConfig.from_json_file(str(config_file))
    )
    model.build()
    options = types.SimpleNamespace(**summary["all_flags"])
    needed = costs.training_memory(model, options, LENGTH, NUM_PREDICTIONS)
    message = memory_check.out_of_memory(needed, options)
    needed = float(re.search(r"needs about ([\d.]+) GiB", message)[1])
    return needed, summary["peak_memory_bytes"] / 2**30


@pytest.mark.slow
def test_the_memory_that_is_said_is_right_within_a_factor_of_two(
    pretraining_flags, config_file, tmp_path
):
    needed, peak = estimate_and_peak(
        pretraining_flags, config_file, tmp_path, train_batch_size=128
    )
    assert 0.5 < needed / peak < 2


@pytest.mark.soak
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"gradient_checkpointing": True},
        {"mixed_precision": "bfloat16"},
        {"gradient_accumulation_steps": 2},
        {"gradient_accumulation_steps": 2, "gradient_checkpointing": True},
    ],
    ids=lambda more: "_".join(more) or "plain",
)
def test_the_memory_of_a_large_batch(
    more, pretraining_flags, config_file, tmp_path
):
    needed, peak = estimate_and_peak(
        pretraining_flags, config_file, tmp_path, train_batch_size=512, **more
    )
    assert 0.5 < needed / peak < 2
