"""Fixtures that several test files use: a tiny model and its runs."""

import fcntl
import gc
import json
import os
import pickle
import signal

import pytest
from absl import logging as absl_logging

from tests.support import pretraining_records, script_runner
from tests.support.models import write_config
from tests.support.paths import SAMPLES

# A shell's background jobs ignore SIGINT, and so would all scripts under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Folders of test files, slowest first. The slowest files start first, so that
# all processes end at about the same time.
LONGEST = (
    "serving",
    "scripts",
    "across_scripts",
    "training",
    "modeling",
    "recipes",
    "docs",
    "data",
)


def _folder_of(path):
    """Returns the name of a test file's folder in tests/."""
    return path.removeprefix("tests/").split("/")[0]


def pytest_make_parametrize_id(val):
    """Returns a readable id of a container or path among the parameters.

    pytest would number them: flags0, flags1. Any other type has its usual id.
    """
    if isinstance(val, os.PathLike):
        return os.path.basename(val)
    if isinstance(val, (set, frozenset)):
        # Each process must give the same id.
        val = sorted(val, key=str)
    if not isinstance(val, (dict, list, tuple)) or not val:
        return None
    try:
        text = json.dumps(val)
    except TypeError:
        # What is in it may look different in each process.
        return None
    return text.replace('"', "").strip("{[]}")[:60]


def pytest_collection_modifyitems(items):
    """Sorts the tests, so that the slowest folders start first."""

    def position(item):
        folder = _folder_of(item.nodeid)
        return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)

    items.sort(key=position)


def pytest_collection_finish():
    """Excludes imported objects from garbage collection.

    Most objects of a process come from imports, and are never garbage.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Runs each test file in one process, which then reuses its fixtures."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            folder = _folder_of(nodeid)
            # A second process would export all models of tests/serving again.
            return folder if folder == "serving" else nodeid.split("::")[0]

    # Keep the order of LONGEST. By default, xdist sorts by number of tests.
    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def made_once(request, tmp_path_factory):
    """Function (make) -> result of `make(folder)`, called in one process only.

    All processes of a test session share the result, which is pickled under the
    name of `make` and of its module. No test may change the files that `make`
    writes.
    """
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent

    def make_or_read(make):
        name = f"{make.__module__}.{make.__qualname__}"
        result = shared / f"{name}.pickle"
        with open(shared / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                made = make(tmp_path_factory.mktemp(make.__name__))
                partial = result.with_suffix(".partial")
                partial.write_bytes(pickle.dumps(made))
                partial.replace(result)
        return pickle.loads(result.read_bytes())

    return make_or_read


# The fixtures below run a script once for all tests. Each contains what the
# ones above it do, so ask for the first that suffices:
#
#     tiny, random_start    no script: a configuration, and flags
#     sample_records        create_pretraining_data.py
#     pretrained            7 steps of run_pretraining.py
#     model_flags           flags that start from the weights of `pretrained`
#     classified            run_classifier.py, from random weights


@pytest.fixture(scope="session")
def tiny(made_once):
    """Folder with the configuration of a tiny model. No script runs.

    In the folder are

        bert_config.json            two blocks
        one_block/bert_config.json  one block, for tests that a second block
                                    would only slow down
    """

    def make_tiny(folder):
        write_config(folder / "bert_config.json")
        (folder / "one_block").mkdir()
        config = folder / "one_block/bert_config.json"
        write_config(config, num_hidden_layers=1)
        return folder

    return made_once(make_tiny)


@pytest.fixture(scope="session")
def random_start(tiny):
    """Flags that start the tiny model from random weights. No script runs."""
    return {
        "bert_config_file": tiny / "bert_config.json",
        "vocab_file": SAMPLES / "vocab.txt",
    }


@pytest.fixture(scope="session")
def sample_records(made_once):
    """Path of pretraining records of the sample corpus.

    They are masked, of 32 WordPieces. create_pretraining_data.py writes them.
    """

    def make_sample_records(folder):
        pretraining_records.create_records(folder, "train.tfrecord")
        return folder / "train.tfrecord"

    return made_once(make_sample_records)


@pytest.fixture(scope="session")
def pretraining_flags(tiny, sample_records):
    """Flags that pretrain one block on the records, and no weights.

    --output_dir and the number of steps are missing.
    """
    return {
        "input_file": sample_records,
        "bert_config_file": tiny / "one_block/bert_config.json",
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
        "train_batch_size": 16,
        "num_warmup_steps": 2,
        "learning_rate": 1e-3,
    }


@pytest.fixture(scope="session")
def two_blocks(tiny, pretraining_flags):
    """The pretraining_flags for both blocks, as `pretrained` has them."""
    return pretraining_flags | {"bert_config_file": tiny / "bert_config.json"}


@pytest.fixture(scope="session")
def pretrained(made_once, two_blocks):
    """FinishedRun of 7 steps of run_pretraining.py, with a checkpoint of each.

    In `pretrained.folder` is `run/`, the --output_dir, with the scores of an
    evaluation after the last step.
    """

    def make_pretrained(folder):
        flags = two_blocks | script_runner.split_flags("""
            --output_dir=run --do_train --do_eval --num_train_steps=7
            --save_checkpoints_steps=1
        """)
        done = script_runner.run("run_pretraining.py", folder, **flags).check()
        return script_runner.FinishedRun(folder, flags, done)

    return made_once(make_pretrained)


@pytest.fixture(scope="session")
def model_flags(random_start, pretrained):
    """Flags that start the tiny model from its pretrained weights.

    They are those of random_start, and --init_checkpoint.
    """
    return {
        **random_start,
        "init_checkpoint": pretrained.folder / "run/model.ckpt-7",
    }


@pytest.fixture(scope="session")
def classified(made_once, random_start):
    """FinishedRun of run_classifier.py on MRPC, from random weights.

    The command trained 8 steps, evaluated, predicted and exported a tiny
    classifier of pairs, with --report and --glue_submission. The train set has
    900 pairs, the dev set 120 and the test set 60. 0.3 epochs in batches of 32,
    the default, are 8 steps. In `classified.folder` are

        run/      --output_dir: checkpoints, scores, predictions, report, card
        export/   --export_dir: the SavedModel
        weights/  --export_weights: a release in Google's format
        words.txt the vocabulary, without a newline at its end
    """

    # Most tests of the network need no TensorFlow.
    from tests.support.tasks.task_runs import run_task_test

    def make_classified(folder):
        # Remove the last newline, to test that copies do not add one.
        words = random_start["vocab_file"].read_bytes().rstrip()
        (folder / "words.txt").write_bytes(words)
        flags = script_runner.split_flags(f"""
            --task_name=MRPC --data_dir={SAMPLES}/glue
            --vocab_file=words.txt --do_train --do_eval --do_predict --report
            --max_seq_length=32 --num_train_epochs=0.3 --glue_submission
        """)
        flags = {
            **random_start,
            **flags,
            "output_dir": folder / "run",
            "export_dir": folder / "export",
            "export_weights": folder / "weights",
        }
        done = run_task_test("run_classifier.py", flags, "f1")
        return script_runner.FinishedRun(folder, flags, done)

    return made_once(make_classified)


@pytest.fixture(scope="session", autouse=True)
def _no_fsync():
    """Lets tests write files without waiting for the disk.

    script_runner.py does the same in the process of each script.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fsync)
        script_runner.skip_fsync()
        yield


@pytest.fixture
def synced(monkeypatch):
    """List of what is synced to the disk: (path, names in its folder then)."""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc, to find the path of an open file")
    synced_paths = []

    def record(number):
        path = os.readlink(f"/proc/self/fd/{number}")
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        synced_paths.append((path, sorted(os.listdir(folder))))

    monkeypatch.setattr(os, "fsync", record)
    return synced_paths


@pytest.fixture(autouse=True)
def fresh_logger():
    """Resets absl's logger to its state in a new process, before each test.

    TensorFlow's export sets the logger's verbosity, and restores the default of
    absl's flag instead of the earlier value, which drops INFO messages.
    """
    absl_logging.get_absl_logger().setLevel("NOTSET")
