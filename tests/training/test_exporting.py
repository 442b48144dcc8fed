"""What is said of an export that scores lower than its model."""

import types

import pytest

from tests.support import toy_task
from training import exporting

SPLITS = [types.SimpleNamespace(name="eval")]


def check(folder, score, **flags):
    """Compares the score of a LiteRT file with a model's."""
    flags |= {"export_dir": f"{folder}/export", "export_format": "litert"}
    task = toy_task.ToyTask(toy_task.create_config(folder, **flags))
    task.metrics = ("spearman",)
    exporting.check_scores(
        task, SPLITS, {"spearman": 0.04}, {"litert_spearman": score}
    )


@pytest.mark.parametrize("score", [0.01, float("nan")])
def test_rounding_is_named_where_nobody_quantized(score, tmp_path):
    with pytest.raises(ValueError, match="nearly the same for all") as error:
        check(tmp_path, score)
    assert "--quantize" not in str(error.value)
    assert "--max_export_loss" in str(error.value)


def test_int8_is_named_where_it_was_asked_for(tmp_path):
    with pytest.raises(ValueError, match="Export without --quantize, or"):
        check(tmp_path, 0.01, quantize="int8")
    check(tmp_path, 0.037, quantize="int8")
