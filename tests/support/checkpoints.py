"""Reads, compares, converts and damages checkpoints, and calls exports.

For example:

    weights = read_checkpoint(run, step=7)
    assert_same_bits(weights, read_checkpoint(resumed, step=7))
    convert(folder, tmp_path / "there", output_format="huggingface")
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray

from files.paths import StrPath
from options.parsed_command import ParsedCommand
from tools import convert_checkpoint
from tools.conversion.convert_checkpoint_config import ConvertCheckpointConfig

# What JSON contains: None, a bool, number or text, or a list or dict of them.
JsonValue: TypeAlias = Any
# Damages of a TF1 checkpoint that the sizes of its files show.
DAMAGES_OF_SIZE = ("no data", "short data", "short index", "cut index")
# {name: array}
Arrays: TypeAlias = Mapping[str, NDArray[Any]]


def read_checkpoint(path: StrPath, step: int | None = None) -> Arrays:
    """Returns {name: array} of a checkpoint, or of a step in a folder."""
    if step is not None:
        path = f"{path}/model.ckpt-{step}"
    reader = tf.train.load_checkpoint(str(path))
    return {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
    }


def list_weights(path: StrPath) -> dict[str, list[int]]:
    """Returns {name: shape} of the weights in a checkpoint, without slots."""
    return {
        name: shape
        for name, shape in tf.train.list_variables(str(path))
        if not re.search(r"^global_step|/adam_[mv]$", name)
    }


def damage_checkpoint(prefix: Path, damage: str) -> None:
    """Damages the files of a TF1 checkpoint.

    Args:
        prefix: prefix of the files.
        damage: one of `DAMAGES_OF_SIZE`, or "other data" for values that the
            checksums in the index do not fit.
    """
    index = Path(f"{prefix}.index")
    data = Path(f"{prefix}.data-00000-of-00001")
    if damage == "no data":
        data.unlink()
    elif damage == "short data":
        data.write_bytes(data.read_bytes()[:500])
    elif damage == "other data":
        data.write_bytes(bytes(data.stat().st_size))
    elif damage == "cut index":
        # The footer is complete, but it points beyond the end of the file.
        index.write_bytes(index.read_bytes()[-60:])
    else:
        index.write_bytes(b"short")


def call_signature(
    export_dir: StrPath, inputs: Mapping[str, Any], signature: str = "ids"
) -> Arrays:
    """Returns the outputs of a SavedModel for inputs, both {name: array}."""
    # Keep a reference to the model, because it owns the variables.
    model = tf.saved_model.load(str(export_dir))
    tensors = {name: tf.constant(value) for name, value in inputs.items()}
    outputs = model.signatures[signature](**tensors)
    return {name: value.numpy() for name, value in outputs.items()}


def assert_same_bits(actual: Arrays, expected: Arrays) -> None:
    """Checks that two checkpoints contain exactly equal values."""
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, name)


def assert_same(
    actual: JsonValue,
    expected: JsonValue,
    atol: float = 1e-5,
    rtol: float = 1e-4,
) -> None:
    """Checks that JSON values are equal, except for rounding errors."""
    assert type(actual) is type(expected)
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(actual[key], value, atol, rtol)
    elif isinstance(expected, list):
        assert len(actual) == len(expected)
        for pair in zip(actual, expected, strict=True):
            assert_same(*pair, atol, rtol)
    elif isinstance(expected, float):
        assert actual == pytest.approx(expected, rel=rtol, abs=atol)
    else:
        assert actual == expected


def convert(
    init_checkpoint: StrPath, output_dir: StrPath, **options: Any
) -> None:
    """Runs the script's main. `options` are its other flags that are set."""
    config = ConvertCheckpointConfig(
        init_checkpoint=str(init_checkpoint),
        output_dir=str(output_dir),
        **options,
    )
    convert_checkpoint.main(ParsedCommand(config, options))
