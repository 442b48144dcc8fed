"""Fixtures that tests of several scripts share: a tiny model and its runs."""

import fcntl
import gc
import json
import pickle

import pytest
from absl import logging as absl_logging

from tests import script_runner

# Folders by how long their files of tests take: the longest begin first, so
# that no process has a long one left when the others end.
LONGEST = (
    *("serving", "scripts", "training", "modeling"),
    *("recipes", "docs", "data"),
)
# Runs the script that its first argument names, and prints each opening of the
# vocabulary.
COUNTING = """
import os, runpy, sys

def count(event, arguments):
    if event == "open" and str(arguments[0]).endswith("words.txt"):
        os.write(1, b"opened words.txt\\n")

sys.addaudithook(count)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
TINY = {
    "vocab_size": 1600,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}


def _folder_of(path):
    """Returns the folder of tests/ that a file of tests is in."""
    return path.removeprefix("tests/").split("/")[0]


def pytest_collection_modifyitems(items):
    """Has the longest tests begin first."""

    def position(item):
        folder = _folder_of(item.nodeid)
        return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)

    items.sort(key=position)


def pytest_collection_finish():
    """Leaves what was imported out of garbage collections.

    It is most of the objects of a process, and none of it is ever garbage.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Gives each file to one process, which shares its fixtures.

    All of tests/serving goes to one, as it asks the same exported models.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            folder = _folder_of(nodeid)
            return folder if folder == "serving" else nodeid.split("::")[0]

    # The order above, not that of the number of tests.
    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def made_once(request, tmp_path_factory):
    """(make) -> what `make(folder)` returned in the process that came first.

    The processes of one run of tests share what takes seconds to make. What
    `make` returns is pickled by its name, and no test may change what it wrote.
    """
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent

    def made_once(make):
        result = shared / f"{make.__name__}.pickle"
        with open(shared / f"{make.__name__}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                made = make(tmp_path_factory.mktemp(make.__name__))
                partial = result.with_suffix(".partial")
                partial.write_bytes(pickle.dumps(made))
                partial.replace(result)
        return pickle.loads(result.read_bytes())

    return made_once


@pytest.fixture(scope="session")
def tiny(made_once):
    """A folder with a tiny configuration and records for pretraining.

    And `one_block`, half the model, for tests to which a second block shows
    nothing and costs seconds.
    """

    def make_tiny(folder):
        (folder / "one_block").mkdir()
        for path, changes in (
            (".", {}),
            ("one_block", {"num_hidden_layers": 1}),
        ):
            config = folder / path / "bert_config.json"
            config.write_text(json.dumps(TINY | changes))
        script_runner.create_records(folder, "train.tfrecord")
        return folder

    return made_once(make_tiny)


@pytest.fixture(scope="session")
def pretraining_flags(tiny):
    """Flags that pretrain one block, but for where to and how long."""
    return {
        "input_file": tiny / "train.tfrecord",
        "bert_config_file": tiny / "one_block/bert_config.json",
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
        "train_batch_size": 16,
        "num_warmup_steps": 2,
        "learning_rate": 1e-3,
    }


@pytest.fixture(scope="session")
def two_blocks(tiny, pretraining_flags):
    """Flags that pretrain the tiny model, for tests that continue its run."""
    return pretraining_flags | {"bert_config_file": tiny / "bert_config.json"}


@pytest.fixture(scope="session")
def pretrained(made_once, two_blocks):
    """A folder of 7 steps of pretraining; and what they said."""

    def make_pretrained(folder):
        flags = script_runner.parse_flags("""
            --output_dir=run --do_train --do_eval --num_train_steps=7
            --save_checkpoints_steps=1
        """)
        done = script_runner.run(
            "run_pretraining.py", folder, **two_blocks, **flags
        )
        return folder / "run", done.check()

    return made_once(make_pretrained)


@pytest.fixture(scope="session")
def model_flags(tiny, pretrained):
    """Flags that start the tiny model from what it was pretrained to."""
    folder, _ = pretrained
    return {
        "bert_config_file": tiny / "bert_config.json",
        "vocab_file": script_runner.SAMPLES / "vocab.txt",
        "init_checkpoint": folder / "model.ckpt-7",
    }


@pytest.fixture(scope="session")
def classified(made_once, model_flags):
    """A folder with a classifier's `run` and exports; and what it said."""

    def make_classified(folder):
        (folder / "counting.py").write_text(COUNTING)
        # Without a newline at its end, which a copy must not add.
        words = model_flags["vocab_file"].read_bytes().rstrip()
        (folder / "words.txt").write_bytes(words)
        flags = script_runner.parse_flags(f"""
            --task_name=MRPC --data_dir={script_runner.SAMPLES}/glue
            --output_dir=run --export_dir=export --export_weights=weights
            --vocab_file=words.txt --do_train --do_eval --do_predict --report
            --max_seq_length=32 --num_train_epochs=0.3
        """)
        done = script_runner.run(
            folder / "counting.py",
            folder,
            str(script_runner.ROOT / "run_classifier.py"),
            **model_flags | flags,
        )
        return folder, done.check()

    return made_once(make_classified)


@pytest.fixture(autouse=True)
def fresh_logger():
    """Gives each test the logger as a new process has it.

    TensorFlow's export sets the logger's verbosity and restores it to the
    default of absl's flag, which drops what is logged at INFO.
    """
    absl_logging.get_absl_logger().setLevel("NOTSET")
