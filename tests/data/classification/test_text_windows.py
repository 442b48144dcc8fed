"""Windows of long texts: their ids, weights and labels."""

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.classification.text_windows import create_window_features
from data.probabilities import to_probabilities
from modeling import losses


def create_windows(tokenizer):
    """Returns the windows of a long text, an empty text and a short text."""
    texts = ["a b c a b c a", "", "a b c"]
    examples = [InputExample("g", text, None, "y") for text in texts]
    return [*create_window_features(examples, ["x", "y"], 6, tokenizer, 2)]


@pytest.fixture
def windows(tokenizer):
    """The windows of three texts, as `create_windows` returns them."""
    return create_windows(tokenizer)


def test_the_windows_of_a_text_cover_it(windows):
    long, empty, short = windows
    assert [window.input_ids for window in long] == [
        [2, 4, 5, 6, 4, 3],
        [2, 6, 4, 5, 6, 3],
        [2, 5, 6, 4, 3, 0],
    ]
    assert long[2].input_mask == [1, 1, 1, 1, 1, 0]
    assert [window.input_ids for window in empty] == [[2, 3, 0, 0, 0, 0]]
    assert [window.input_ids for window in short] == [[2, 4, 5, 6, 3, 0]]


def test_the_weights_of_the_windows_of_a_text_add_up_to_1(windows):
    weights = [[window.weight for window in group] for group in windows]
    assert weights == [[1 / 3] * 3, [1], [1]]


def test_each_window_has_the_label_of_its_text(windows):
    label_ids = [[window.label_id for window in group] for group in windows]
    assert label_ids == [[1, 1, 1], [1], [1]]


def test_texts_that_were_split_into_windows_are_counted(tokenizer, caplog):
    caplog.set_level("INFO", logger="absl")
    create_windows(tokenizer)
    (message,) = caplog.messages
    assert message.startswith("1 of 3 texts ")
    assert "--max_seq_length=6" in message
    assert "--doc_stride=2" in message


def test_a_loss_counts_windows_by_their_weights():
    logits = np.array([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], np.float32)
    batch = {
        "label_ids": np.array([0, 0, 1]),
        "is_real_example": np.array([1, 1, 1]),
        "example_weights": np.array([0.5, 0.5, 1.0], np.float32),
    }
    losses_of_texts = -np.log(to_probabilities(logits, "classification"))[
        range(3), batch["label_ids"]
    ]
    loss, _ = losses.ClassifierLoss()(logits, batch)
    expected = (losses_of_texts[:2].mean() + losses_of_texts[2]) / 2
    np.testing.assert_allclose(loss, expected, rtol=1e-6)
