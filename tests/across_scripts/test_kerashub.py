"""Scripts and tools that start from a preset of KerasHub."""

import numpy as np
import pytest

import modeling
from data.text.tokenization import FullTokenizer
from tests.support.checkpoints import convert
from tests.support.model_cases import assert_close
from tests.support.script_runner import run
from tests.support.weights.kerashub_presets import (
    FEATURES,
    RECORDED,
    change_json,
    copy_recorded,
)


@pytest.fixture
def classifier(tmp_path):
    """A copy of the recorded preset of a classifier."""
    return copy_recorded(tmp_path / "preset")


@pytest.fixture
def train_from_preset(classifier, tmp_path):
    """Runs run_classifier.py on a small table, from the preset."""
    rows = [
        f"word {number % 7} boat,{'abc'[number % 3]}\n" for number in range(40)
    ]
    (tmp_path / "t.csv").write_text("text,label\n" + "".join(rows))

    def train_from_preset(**flags):
        return run(
            "run_classifier",
            tmp_path,
            data_file="t.csv",
            init_checkpoint=classifier,
            output_dir="run",
            num_train_epochs=1,
            train_batch_size=8,
            **flags,
        )

    return train_from_preset


def test_training_starts_from_a_preset(train_from_preset):
    train_from_preset().check()


def test_a_preset_may_be_the_teacher(train_from_preset, classifier):
    train_from_preset(teacher=classifier).check()


def test_a_teacher_without_the_blocks_that_it_states_is_refused(
    train_from_preset, tmp_path
):
    large = copy_recorded(tmp_path / "large")
    change_json(large / "config.json", num_layers=1_000_000)
    assert "contains 3 blocks" in train_from_preset(teacher=large).error


def test_a_preset_is_exported(classifier, tmp_path):
    run("tools.export", tmp_path, model=classifier, export_dir="export").check()


@pytest.mark.parametrize("output_format", ["tf1", "huggingface", "kerashub"])
def test_a_preset_is_converted(output_format, classifier, tmp_path):
    convert(classifier, tmp_path / "out", output_format=output_format)
    model = modeling.BertClassifier.from_preset(tmp_path / "out")
    recorded = np.load(RECORDED / "out_c.npz")["logits"]
    assert_close(model(FEATURES), recorded, tolerance=1e-5)
    tokenizer = FullTokenizer.from_preset(tmp_path / "out")
    assert tokenizer.do_lower_case
    assert len(tokenizer.tokens) == 1600
