"""Fixtures that several test files use: a tiny model and its runs."""

import os

import pytest
from absl import logging as absl_logging

from tests.support import pretraining_records, script_runner
from tests.support.models import write_config
from tests.support.paths import SAMPLES

pytest_plugins = [
    # How pytest runs the tests, and the fixture `made_once`.
    "tests.support.pytest_plugin",
    # The fixture `exports` of tests/exporting and tests/serving.
    "tests.support.serving.export_fixtures",
]

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

    def make_classified(folder):
        # Remove the last newline, to test that copies do not add one.
        words = random_start["vocab_file"].read_bytes().rstrip()
        (folder / "words.txt").write_bytes(words)
        flags = script_runner.split_flags(f"""
            --task_name=MRPC --data_dir={SAMPLES}/glue
            --vocab_file=words.txt --do_train --do_eval --do_predict --report
            --max_seq_length=32 --num_train_epochs=0.3 --glue_submission
            --save_checkpoints_steps=4
        """)
        flags = {
            **random_start,
            **flags,
            "output_dir": folder / "run",
            "export_dir": folder / "export",
            "export_weights": folder / "weights",
        }
        done = script_runner.run("run_classifier.py", folder, **flags).check()
        return script_runner.FinishedRun(folder, flags, done)

    return made_once(make_classified)


@pytest.fixture(scope="session", autouse=True)
def _no_fsync():
    """Lets tests write files without waiting for the disk.

    script_runner.py does the same in the process of each script.
    """
    with pytest.MonkeyPatch.context() as patch:
        # Without a change, but the context restores os.fsync at its end.
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
