"""Scripts killed at random moments end with the same bits.

BERT_CAMPAIGN_KILLS is the number of kills of each runner, BERT_CAMPAIGN_SEED
draws the moments. Each test prints a line of its figures.
"""

import contextlib
import fcntl
import json
import os
import random
import shutil
import time

import numpy as np
import pytest
import tensorflow as tf

from tests import script_runner
from tests.scripts import test_run_ner, test_run_swag
from training import checkpointing
from training.callbacks import history

pytestmark = pytest.mark.soak

NUM_KILLS = int(os.environ.get("BERT_CAMPAIGN_KILLS", "10"))
SEED = int(os.environ.get("BERT_CAMPAIGN_SEED", "0"))
SAVE_STEPS = 2
# Times, and what TensorBoard reads, differ from run to run.
DIFFERS = ("summary.json", "events.out.", "checkpoint", "model.ckpt-", ".lock")


def create_data(tmp_path_factory):
    """Returns a folder with a data set for each task, and a larger corpus."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("ner", "swag"):
        (folder / name).mkdir()
    for name, count in (("train", 48), ("valid", 9), ("test", 5)):
        test_run_ner.write_set(folder / "ner" / f"{name}.txt", count)
    for name, count in (("train", 48), ("val", 10), ("test", 5)):
        test_run_swag.write_set(folder / "swag" / f"{name}.csv", count)
    corpus = (script_runner.SAMPLES / "corpus.txt").read_text(encoding="utf-8")
    (folder / "corpus.txt").write_text("\n\n".join([corpus] * 20))
    return folder


@pytest.fixture(scope="module")
def runners(tmp_path_factory, tiny, pretraining_flags, model_flags):
    """Commands by name whose output is the folder `out`, and which save often.

    Each is (script, flags).
    """
    data = create_data(tmp_path_factory)
    return {
        "data": (
            "create_pretraining_data.py",
            {
                "input_file": data / "corpus.txt",
                "vocab_file": script_runner.SAMPLES / "vocab.txt",
                "output_file": "out/shard",
                "max_seq_length": 32,
                "max_predictions_per_seq": 5,
                "dupe_factor": 40,
                "num_shards": 12,
                "num_processes": 2,
            },
        ),
        "pretraining": (
            "run_pretraining.py",
            pretraining_flags
            | {
                "output_dir": "out",
                "do_train": True,
                "do_eval": True,
                "num_train_steps": 60,
                "save_checkpoints_steps": SAVE_STEPS,
            },
        ),
        **fine_tuning_runners(data, model_flags),
    }


def fine_tuning_runners(data, model_flags):
    flags = model_flags | {
        "output_dir": "out",
        "do_train": True,
        "do_predict": True,
        "max_seq_length": 32,
        "train_batch_size": 4,
        "save_checkpoints_steps": SAVE_STEPS,
        "learning_rate": 1e-3,
    }
    evaluated = flags | {"do_eval": True, "num_train_epochs": 4}
    squad = script_runner.SAMPLES / "squad"
    return {
        "classifier": (
            "run_classifier.py",
            evaluated
            | {
                "task_name": "mrpc",
                "data_dir": script_runner.SAMPLES / "glue",
                "evaluate_each_epoch": True,
                "num_train_epochs": 0.3,
            },
        ),
        "squad": (
            "run_squad.py",
            flags
            | {
                "train_file": squad / "train.json",
                "predict_file": squad / "dev.json",
                "max_seq_length": 64,
                "max_query_length": 24,
                "num_train_epochs": 0.3,
            },
        ),
        "ner": ("run_ner.py", evaluated | {"data_dir": data / "ner"}),
        "swag": ("run_swag.py", evaluated | {"data_dir": data / "swag"}),
    }


def read_outputs(folder):
    """Returns all that must not differ: values of variables, bytes of files."""
    outputs = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(DIFFERS)
    }
    for path in sorted(folder.rglob(history.FILE)):
        # All of it but the time spent, and the save of a run that ends because
        # its parent was killed, which an undisturbed one does not make.
        lines = [
            line | {"hours": None}
            for line in history.read(path)
            if line["kind"] != "checkpoint" or line["step"] % SAVE_STEPS == 0
        ]
        outputs[str(path.relative_to(folder))] = json.dumps(lines).encode()
    for path in sorted(folder.rglob("*.index")):
        steps = checkpointing.checkpoint_steps(path.parent)
        if path.name == f"model.ckpt-{steps[-1]}.index":
            reader = tf.train.load_checkpoint(str(path.with_suffix("")))
            for name in reader.get_variable_to_shape_map():
                key = f"{path.relative_to(folder)}:{name}"
                outputs[key] = reader.get_tensor(name)
    return outputs


def differences(found, expected):
    """Returns the names of outputs that differ, or that one side lacks."""
    names = found.keys() ^ expected.keys()
    for name in found.keys() & expected.keys():
        if isinstance(expected[name], bytes):
            is_same = found[name] == expected[name]
        else:
            is_same = expected[name].tobytes() == found[name].tobytes()
            is_same &= np.shape(found[name]) == np.shape(expected[name])
        if not is_same:
            names.add(name)
    return sorted(names)


def first_output(folder):
    """Returns a `kill_when` that notes when a run begins to write."""
    started = time.monotonic()
    noted = []

    def kill_when():
        if not noted and folder.exists():
            noted.append(time.monotonic() - started)
        return False

    return noted, kill_when


def wait_until_free(folder):
    """Waits until the processes end that a killed one had started."""
    for path in folder.rglob(".lock"):
        # It goes with its process.
        with contextlib.suppress(FileNotFoundError), path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)


def kill_after(seconds):
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


@pytest.mark.parametrize(
    "name",
    ["data", "pretraining", "classifier", "squad", "ner", "swag"],
)
def test_killed_runs_end_with_the_same_bits(tmp_path, runners, name, capsys):
    script, flags = runners[name]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    noted, note = first_output(whole / "out")
    started = time.monotonic()
    script_runner.run(script, whole, kill_when=note, **flags).check()
    length = time.monotonic() - started
    expected = read_outputs(whole / "out")

    rng = random.Random(f"{SEED}/{name}")
    num_kills = num_ends = 0
    wrong = []
    while num_kills < NUM_KILLS or killed.exists():
        killed.mkdir(exist_ok=True)
        # Most of the time before the first output goes to imports.
        delay = rng.uniform(0.5 * noted[0], length)
        is_last = num_kills >= NUM_KILLS
        done = script_runner.run(
            script,
            killed,
            kill_when=(lambda: False) if is_last else kill_after(delay),
            **flags,
        )
        if done.status < 0:
            num_kills += 1
            wait_until_free(killed)
            continue
        # It came to its end first; the next kills are of a new run.
        assert done.status == 0, f"after {num_kills} kills: {done.stderr}"
        num_ends += 1
        found = read_outputs(killed / "out")
        wrong += differences(found, expected)
        shutil.rmtree(killed)
    with capsys.disabled():
        print(
            f"\n{script}: {num_kills} kills survived in {num_ends} runs, "
            f"{len(expected)} outputs compared in each, {len(wrong)} "
            "differences"
        )
    assert not wrong
