"""The records of a task's sets."""

import json
import weakref
import zlib

import pytest

from data.io.tfrecords import read_records
from modeling import BertConfig
from tests.support import fresh_process
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_starting_point,
    load_tokenizer,
)
from training.fine_tuning.encoded_sets import write_encoded_sets

BERT_CONFIG = BertConfig(vocab_size=100)


class WindowTask(ToyTask):
    """Writes two records for each example, whose contexts name the example."""

    num_examples = 3

    def encode(self, set_name, examples):
        for number in examples:
            for record, _ in super().encode(set_name, [number, number + 1]):
                yield record, number


def create_task(folder, task_class, **flags):
    config = create_config(folder, **flags)
    return task_class(
        create_starting_point(config, BERT_CONFIG, load_tokenizer())
    )


@pytest.fixture
def task(tmp_path):
    """A task with two records for each of three examples of the dev set."""
    return create_task(tmp_path, WindowTask, do_eval=True)


@pytest.fixture
def dev_set(task, tmp_path):
    """The dev set of that task."""
    return write_encoded_sets(task, tmp_path / "state")["dev"]


def test_a_set_contains_the_records_of_its_examples_in_order(
    task, dev_set, tmp_path
):
    (path,) = dev_set.records.files
    assert path == str(tmp_path / "state/eval.tf_record")
    encoded = [record for record, _ in task.encode("dev", range(3))]
    assert [*read_records(path)] == encoded


def test_the_checksum_of_a_set_is_the_sum_of_its_records(task, dev_set):
    encoded = [record for record, _ in task.encode("dev", range(3))]
    assert dev_set.checksum == sum(map(zlib.crc32, encoded))


def test_a_dev_set_keeps_its_examples_and_origins(dev_set):
    assert (dev_set.num_examples, dev_set.num_records) == (3, 6)
    assert dev_set.examples == range(3)
    assert dev_set.decoding_contexts == [0, 0, 1, 1, 2, 2]


def test_a_train_set_keeps_neither_examples_nor_origins(tmp_path):
    task = create_task(tmp_path, WindowTask, do_train=True)
    encoded_set = write_encoded_sets(task, tmp_path / "state")["train"]
    assert (encoded_set.num_examples, encoded_set.num_records) == (3, 6)
    assert not encoded_set.examples
    assert not encoded_set.decoding_contexts


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["do_train"], ["train"]),
        (["do_eval"], ["dev"]),
        (["do_predict"], ["test"]),
        (["do_train", "do_eval"], ["train", "dev"]),
    ],
)
def test_only_the_sets_that_a_command_needs_are_read(tmp_path, flags, names):
    task = create_task(tmp_path, ToyTask, **dict.fromkeys(flags, True))
    assert [*write_encoded_sets(task, tmp_path / "state")] == names


def test_a_set_that_a_task_skips_has_no_records(tmp_path):
    task = create_task(tmp_path, ToyTask, do_eval=True, do_predict=True)
    task.take_examples = {"dev": range(3), "test": None}.get
    assert [*write_encoded_sets(task, tmp_path / "state")] == ["dev"]
    assert not (tmp_path / "state/predict.tf_record").exists()


class Example:
    """An example that tells when it is freed, unlike a number."""


class WeakTask(ToyTask):
    """Refers to the train examples, without keeping them in memory."""

    def __init__(self, starting_point):
        super().__init__(starting_point)
        self.train_examples = weakref.WeakSet()
        # {set: number of train examples in memory when the set is encoded}
        self.num_in_memory = {}

    def take_examples(self, set_name):
        examples = [Example() for _ in range(3)]
        if set_name == "train":
            self.train_examples.update(examples)
        return examples

    def encode(self, set_name, examples):
        self.num_in_memory[set_name] = len(self.train_examples)
        yield from super().encode(set_name, range(3))


def test_train_examples_are_freed_before_the_next_set_is_written(tmp_path):
    task = create_task(tmp_path, WeakTask, do_train=True, do_eval=True)
    write_encoded_sets(task, tmp_path / "state")
    assert task.num_in_memory == {"train": 3, "dev": 0}


# A process that writes the records of a worker, and prints where they are.
_WORKER = """
import sys
from modeling import BertConfig
from tests.support import fresh_process
from tests.support.tasks import toy_task
from training.fine_tuning.encoded_sets import write_encoded_sets

config = toy_task.create_config("run", do_eval=True)
bert_config = BertConfig(vocab_size=100)
starting_point = toy_task.create_starting_point(
    config, bert_config, toy_task.load_tokenizer()
)
encoded_sets = write_encoded_sets(toy_task.ToyTask(starting_point), sys.argv[1])
with open(encoded_sets["dev"].records.files[0], "rb") as file:
    assert file.read()
print(file.name)
"""


def test_a_worker_removes_its_records_when_it_ends(tmp_path):
    temporary, state = tmp_path / "temporary", tmp_path / "state"
    temporary.mkdir()
    cluster = {"worker": ["localhost:1", "localhost:2"]}
    config = {"cluster": cluster, "task": {"type": "worker", "index": 1}}
    done = fresh_process.run(
        "-c",
        _WORKER,
        state,
        TF_CONFIG=json.dumps(config),
        TMPDIR=str(temporary),
    )
    written = done.check().stdout.strip()
    assert written.startswith(f"{temporary}/records-")
    assert not [*temporary.glob("records-*")]
    assert not state.exists()
