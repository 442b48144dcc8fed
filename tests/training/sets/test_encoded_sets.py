"""The records of a task's splits.

training/task.py defines a split.
"""

import gc
import zlib

import pytest

from data.io.tfrecord_files import read_records
from modeling import BertConfig
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_start,
    load_tokenizer,
)
from training.sets.splits import dev_set_checksum, write_splits

BERT_CONFIG = BertConfig(vocab_size=100)


class WindowTask(ToyTask):
    """Writes two records for each example, whose origins name the example."""

    num_examples = 3

    def encode(self, split, examples):
        for number in examples:
            for record, _ in super().encode(split, [number, number + 1]):
                yield record, number


def create_task(folder, task_class, **flags):
    config = create_config(folder, **flags)
    return task_class(create_start(config, BERT_CONFIG, load_tokenizer()))


@pytest.fixture
def task(tmp_path):
    """A task with two records for each of three examples of the dev set."""
    return create_task(tmp_path, WindowTask, do_eval=True)


@pytest.fixture
def dev_split(task, tmp_path):
    """The dev set of that task."""
    return write_splits(task, tmp_path / "state")["eval"]


def test_a_split_contains_the_records_of_its_examples_in_order(
    task, dev_split, tmp_path
):
    (path,) = dev_split.records.files
    assert path == str(tmp_path / "state/eval.tf_record")
    encoded = [record for record, _ in task.encode("eval", range(3))]
    assert [*read_records(path)] == encoded


def test_the_checksum_of_a_split_is_the_sum_of_its_records(task, dev_split):
    encoded = [record for record, _ in task.encode("eval", range(3))]
    assert dev_split.checksum == sum(map(zlib.crc32, encoded))


def test_a_dev_split_keeps_its_examples_and_origins(dev_split):
    assert (dev_split.num_examples, dev_split.num_records) == (3, 6)
    assert dev_split.examples == range(3)
    assert dev_split.origins == [0, 0, 1, 1, 2, 2]


def test_a_train_split_keeps_neither_examples_nor_origins(tmp_path):
    task = create_task(tmp_path, WindowTask, do_train=True)
    split = write_splits(task, tmp_path / "state")["train"]
    assert (split.num_examples, split.num_records) == (3, 6)
    assert not split.examples
    assert not split.origins


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["do_train"], ["train"]),
        (["do_eval"], ["eval"]),
        (["do_predict"], ["predict"]),
        (["do_train", "do_eval"], ["train", "eval"]),
    ],
)
def test_only_the_splits_that_a_command_needs_are_read(tmp_path, flags, names):
    task = create_task(tmp_path, ToyTask, **dict.fromkeys(flags, True))
    assert [*write_splits(task, tmp_path / "state")] == names


def test_a_split_that_a_task_skips_has_no_records(tmp_path):
    task = create_task(tmp_path, ToyTask, do_eval=True, do_predict=True)
    task.read_examples = {"eval": range(3), "predict": None}.get
    assert [*write_splits(task, tmp_path / "state")] == ["eval"]
    assert not (tmp_path / "state/predict.tf_record").exists()


class Example:
    """An example of which a test counts those that are in memory."""


class CountingTask(ToyTask):
    """Counts the examples in memory when each split is encoded."""

    def __init__(self, start):
        super().__init__(start)
        self.in_memory = {}

    def read_examples(self, split):
        return [Example() for _ in range(3)]

    def encode(self, split, examples):
        self.in_memory[split] = sum(
            isinstance(value, Example) for value in gc.get_objects()
        )
        yield from super().encode(split, range(3))


def test_train_examples_are_freed_before_the_next_split_is_written(tmp_path):
    task = create_task(tmp_path, CountingTask, do_train=True, do_eval=True)
    write_splits(task, tmp_path / "state")
    assert task.in_memory == {"train": 6, "eval": 3}


@pytest.fixture
def checksum(tmp_path):
    """(folder="a", **changes of the task) -> checksum of its dev set."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    def checksum(folder="a", **changes):
        config = create_config(tmp_path / folder, do_eval=True)
        start = create_start(config, BERT_CONFIG, load_tokenizer())
        task = ToyTask(start)
        for name, value in changes.items():
            setattr(task, name, value)
        splits = write_splits(task, tmp_path / folder / "state")
        return dev_set_checksum(task, splits)

    return checksum


@pytest.fixture
def answers(tmp_path):
    """A file that the figures of the dev set come from."""
    path = tmp_path / "dev.json"
    path.write_text("{}")
    return path


def test_a_dev_set_is_the_same_in_another_run(checksum, answers):
    files = [str(answers)]
    expected = checksum("a", eval_files=files)
    assert checksum("b", eval_files=files) == expected


def test_a_dev_set_is_the_same_in_another_order(checksum, answers):
    """SQuAD's dev set is in another order where padding is left out."""
    files = [str(answers)]
    expected = checksum(eval_files=files)
    backwards = checksum(
        eval_files=files, read_examples=lambda split_name: range(12)[::-1]
    )
    assert backwards == expected


@pytest.mark.parametrize(
    "changes",
    [{"label": lambda number: number < 6}, {"labels": ["1", "0"]}],
    ids=["labels of examples", "order of labels"],
)
def test_a_dev_set_of_other_labels_is_another(checksum, answers, changes):
    files = [str(answers)]
    expected = checksum(eval_files=files)
    assert checksum(eval_files=files, **changes) != expected


def test_a_dev_set_without_its_answers_is_another(checksum, answers):
    assert checksum() != checksum(eval_files=[str(answers)])


def test_a_dev_set_of_changed_answers_is_another(checksum, answers):
    files = [str(answers)]
    before = checksum(eval_files=files)
    answers.write_text("[]")
    assert checksum(eval_files=files) != before
