"""Examples and labels of a user's class, or of a model that it trained."""

import re
from types import SimpleNamespace

import pytest

from data.classification.classification_examples import InputExample
from data.classification.user_class import (
    UserClassSets,
    load_user_class_processor,
)
from model_folders.training_settings import TrainingSettings

CLASS = """\
class Tickets(DataProcessor):
  def get_train_examples(self, data_dir):
    return [{examples}]

  get_dev_examples = get_train_examples
  get_test_examples = get_train_examples

  def get_labels(self):
    return {labels}
"""
PAIR = 'InputExample("g1", "a", "b", "no")'
SINGLE = 'InputExample(2, b"c", None, 1)'


@pytest.fixture
def write_processor(tmp_path):
    """(examples, labels) -> FILE.py:CLASS of a class that returns these."""

    def write_processor(examples=f"{PAIR}, {SINGLE}", labels='["no", 1]'):
        path = tmp_path / "tickets.py"
        path.write_text(CLASS.format(examples=examples, labels=labels))
        return f"{path}:Tickets"

    return write_processor


def read_set(value, set_name):
    """Returns the examples of a set that the class of FILE.py:CLASS reads."""
    return UserClassSets.load(value, data_dir=None).read(set_name)


def test_the_labels_have_the_order_of_the_class(write_processor):
    sets = UserClassSets.load(write_processor(), None)
    assert sets.read_labels() == ["no", "1"]


def test_the_examples_of_a_train_set_are_converted(write_processor):
    assert read_set(write_processor(), "train") == [
        InputExample("g1", "a", "b", "no"),
        InputExample(2, "c", None, "1"),
    ]


@pytest.mark.parametrize(
    ("set_name", "columns"),
    [
        ("dev", ["guid", "text_a", "text_b", "label"]),
        # As in Google's code, the labels of a test set are placeholders.
        ("test", ["guid", "text_a", "text_b"]),
    ],
)
def test_the_cells_of_a_row_are_those_of_the_example(
    write_processor, set_name, columns
):
    cells = {"guid": "g1", "text_a": "a", "text_b": "b", "label": "no"}
    (example,) = read_set(write_processor(PAIR), set_name)
    assert example.row == {column: cells[column] for column in columns}


def test_a_row_of_a_single_text_has_no_second_text(write_processor):
    (example,) = read_set(write_processor(SINGLE), "test")
    assert example.row == {"guid": 2, "text_a": "c"}


def test_any_label_of_a_test_set_is_a_placeholder(write_processor):
    value = write_processor(PAIR, labels="['yes', 'never']")
    assert read_set(value, "test")[0].label is None


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ("", "tickets.py: Tickets.get_train_examples returned no example"),
        (
            "'a'",
            "Tickets.get_train_examples, example 0: None is a NoneType, not a "
            "text",
        ),
        (
            'InputExample("g1", "a", "b", "yes")',
            "Tickets.get_train_examples, example g1: unknown label 'yes'; "
            "get_labels returns no, 1",
        ),
        ("1 / 0", "tickets.py, line 3: ZeroDivisionError"),
    ],
)
def test_examples_that_cannot_be_used_are_refused(
    write_processor, examples, message
):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_set(write_processor(examples), "train")


def test_a_method_that_is_missing_is_named(tmp_path):
    path = tmp_path / "tickets.py"
    path.write_text(
        "class Tickets(DataProcessor):\n"
        "  def get_labels(self):\n"
        "    return [0, 1]\n"
    )
    with pytest.raises(ValueError, match="define get_dev_examples"):
        read_set(f"{path}:Tickets", "dev")


def test_get_labels_must_return_a_list(write_processor):
    with pytest.raises(ValueError, match=r"NoneType.* is not iterable"):
        UserClassSets.load(write_processor(labels="None"), None)


def test_one_label_is_too_few(write_processor):
    with pytest.raises(ValueError, match=r"Tickets\.get_labels"):
        UserClassSets.load(write_processor(labels="['no']"), None)


def test_a_class_that_the_file_lacks_is_named(write_processor):
    value = write_processor().replace(":Tickets", ":Letters")
    with pytest.raises(ValueError, match="there is no Letters"):
        UserClassSets.load(value, None)


def test_a_name_that_is_not_a_class_is_refused():
    with pytest.raises(ValueError, match=r"must be FILE\.py:CLASS"):
        UserClassSets.load("tickets.py", None)


@pytest.fixture
def tickets(write_processor):
    """The processor of the class "Tickets"."""
    return load_user_class_processor(write_processor(), None, None)


def test_the_name_of_the_class_is_recorded(tickets):
    assert tickets.fixed_head_settings == {"processor": "Tickets"}


def test_the_labels_are_those_of_the_class(tickets):
    assert tickets.sets.read_labels() == ["no", "1"]


def test_a_set_of_the_class_is_held(tickets):
    assert tickets.sets.read("train") is tickets.sets.read("train")


@pytest.fixture
def preset():
    """The Preset of a model that was trained with a user's class."""
    return SimpleNamespace(
        labels=["no", "yes"],
        training_settings=TrainingSettings(head={"processor": "Tickets"}),
        source="run",
    )


def test_a_model_that_a_class_trained_needs_no_class_for_its_labels(preset):
    processor = load_user_class_processor(None, None, preset)
    assert processor.sets.read_labels() == ["no", "yes"]


def test_a_model_that_a_class_trained_needs_the_class_for_its_sets(preset):
    processor = load_user_class_processor(None, None, preset)
    with pytest.raises(ValueError, match=r"--processor=FILE\.py:Tickets"):
        processor.sets.read("dev")


def test_the_class_of_the_flag_comes_before_that_of_the_model(
    write_processor, preset
):
    processor = load_user_class_processor(write_processor(), None, preset)
    assert processor.sets.read_labels() == ["no", "1"]


def test_load_user_class_processor_is_none_without_a_class():
    assert load_user_class_processor(None, None, None) is None
