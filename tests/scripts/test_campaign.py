"""The campaign: scripts killed at random moments, and bad inputs drawn.

Sizes come from the environment: BERT_CAMPAIGN_KILLS, kills of each runner;
BERT_CAMPAIGN_INPUTS, bad inputs in all; BERT_CAMPAIGN_SEED. Both tests print
a line of their figures.
"""

import concurrent.futures
import contextlib
import fcntl
import hashlib
import json
import os
import random
import shutil
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import tensorflow as tf

from tests import bad_inputs, script_runner
from tests.data.squad import test_triviaqa
from tests.scripts import test_run_glue, test_run_ner, test_run_swag
from training import checkpointing, history

pytestmark = pytest.mark.soak

NUM_KILLS = int(os.environ.get("BERT_CAMPAIGN_KILLS", "10"))
NUM_INPUTS = int(os.environ.get("BERT_CAMPAIGN_INPUTS", "400"))
SEED = int(os.environ.get("BERT_CAMPAIGN_SEED", "0"))

# Times, and what TensorBoard reads, differ from run to run.
DIFFERS = ("summary.json", "events.out.", "checkpoint", "model.ckpt-", ".lock")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with a small data set for each task, and a larger corpus."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("csv", "jsonl", "ner", "swag", "swag-rows", "trivia/qa"):
        (folder / name).mkdir(parents=True)
    for name in ("RTE", "STS-B"):
        test_run_glue.write_task(folder / "glue", name)
    for name, count in (("train", 48), ("valid", 9), ("test", 5)):
        test_run_ner.write_set(folder / "ner" / f"{name}.txt", count)
    for name, count in (("train", 48), ("val", 10), ("test", 5)):
        test_run_swag.write_set(folder / "swag" / f"{name}.csv", count)
    rows = [
        {"text": f"the {colour} one", "label": colour}
        for colour in ["red", "blue"] * 20
    ]
    lines = [f"{row['text']},{row['label']}" for row in rows]
    (folder / "csv/train.csv").write_text("\n".join(["text,label", *lines]))
    text = "\n".join(map(json.dumps, rows))
    (folder / "jsonl/train.jsonl").write_text(text)
    row = {"sent1": "a", "sent2": "b", "label": 2}
    row |= {f"ending{i}": "c" for i in range(4)}
    text = "\n".join([json.dumps(row)] * 40)
    (folder / "swag-rows/train.jsonl").write_text(text)
    corpus = (script_runner.SAMPLES / "corpus.txt").read_text(encoding="utf-8")
    (folder / "corpus.txt").write_text("\n\n".join([corpus] * 20))
    (folder / "trivia/wikipedia").mkdir()
    (folder / "trivia/wikipedia/Rock.txt").write_text(test_triviaqa.LIGHT)
    asked = test_triviaqa.answer("Anna Holm")
    test_triviaqa.save(
        folder / "trivia", test_triviaqa.question(1, asked, ["Rock.txt"])
    )
    return folder


@pytest.fixture(scope="module")
def runners(data, tiny, pretraining_flags, model_flags):
    """Commands by name whose output is the folder `out`, and which save often.

    Each is (script, flags).
    """
    fine_tuning = model_flags | {
        "output_dir": "out",
        "do_train": True,
        "do_predict": True,
        "max_seq_length": 32,
        "train_batch_size": 4,
        "save_checkpoints_steps": 2,
        "learning_rate": 1e-3,
    }
    squad = script_runner.SAMPLES / "squad"
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
                "save_checkpoints_steps": 2,
            },
        ),
        "classifier": (
            "run_classifier.py",
            fine_tuning
            | {
                "task_name": "mrpc",
                "data_dir": script_runner.SAMPLES / "glue",
                "do_eval": True,
                "evaluate_each_epoch": True,
                "num_train_epochs": 0.3,
            },
        ),
        "squad": (
            "run_squad.py",
            fine_tuning
            | {
                "train_file": squad / "train.json",
                "predict_file": squad / "dev.json",
                "max_seq_length": 64,
                "max_query_length": 24,
                "num_train_epochs": 0.3,
            },
        ),
        "ner": (
            "run_ner.py",
            fine_tuning
            | {
                "data_dir": data / "ner",
                "do_eval": True,
                "num_train_epochs": 4,
            },
        ),
        "swag": (
            "run_swag.py",
            fine_tuning
            | {
                "data_dir": data / "swag",
                "do_eval": True,
                "num_train_epochs": 4,
            },
        ),
        "glue": (
            "run_glue.py",
            {k: v for k, v in fine_tuning.items() if not k.startswith("do_")}
            | {
                "glue_dir": data / "glue",
                "seeds": "1,2",
                "num_train_epochs": 3,
            },
        ),
    }


def read_outputs(folder):
    """Returns all that must not differ: values of variables, bytes of files."""
    outputs = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(DIFFERS)
    }
    for path in sorted(folder.rglob(history.FILE)):
        # All of it but the time spent.
        lines = [line | {"hours": None} for line in history.read(path)]
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
    ["data", "pretraining", "classifier", "squad", "ner", "swag", "glue"],
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


@pytest.fixture(scope="module")
def good_commands(data, tiny, pretraining_flags, model_flags, classified):
    """Commands that are well, with the kinds of their path flags."""
    vocab = script_runner.SAMPLES / "vocab.txt"
    corpus = script_runner.SAMPLES / "corpus.txt"
    squad = script_runner.SAMPLES / "squad"
    make = {
        "input_file": corpus,
        "vocab_file": vocab,
        "output_file": "out",
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
    }
    makes = {
        "input_file": "corpus",
        "vocab_file": "vocabulary",
        "output_file": "output file",
    }
    model = {
        "bert_config_file": "config",
        "vocab_file": "vocabulary",
        "init_checkpoint": "checkpoint",
    }
    run = model | {"output_dir": "output", "export_dir": "output"}
    tune = model_flags | {
        "output_dir": "out",
        "do_train": True,
        "max_seq_length": 32,
        "num_train_epochs": 0.1,
    }
    classify = tune | {"task_name": "csv"}
    commands = [
        ("create_pretraining_data.py", make, makes),
        (
            "create_pretraining_data.py",
            make | {"num_shards": 2},
            makes | {"output_file": "output"},
        ),
        (
            "create_vocabulary.py",
            {"input_file": corpus, "output_file": "out", "vocab_size": 300},
            {"input_file": "corpus", "output_file": "output file"},
        ),
        (
            "run_pretraining.py",
            pretraining_flags
            | {
                "output_dir": "out",
                "init_checkpoint": model_flags["init_checkpoint"],
                "do_train": True,
                "num_train_steps": 2,
            },
            {
                "input_file": "records",
                "bert_config_file": "config",
                "init_checkpoint": "checkpoint",
                "output_dir": "output",
                "export_dir": "output",
            },
        ),
        (
            "extract_features.py",
            model_flags
            | {"input_file": corpus, "output_file": "out", "layers": "-1"},
            model | {"input_file": "text", "output_file": "output file"},
        ),
        (
            "convert_checkpoint.py",
            model_flags | {"output_dir": "out"},
            model | {"output_dir": "output"},
        ),
        (
            "predict.py",
            {
                "model": classified[0] / "export",
                "input_file": data / "jsonl/train.jsonl",
                "output_file": "out",
            },
            {
                "model": "saved model",
                "input_file": "text",
                "output_file": "output file",
            },
        ),
        (
            "serve.py",
            {"model": classified[0] / "export", "port": 0},
            {"model": "saved model", "request_log": "output file"},
        ),
        (
            "plot_runs.py",
            {"runs": classified[0] / "run", "html": "out"},
            {"runs": "history", "html": "output file"},
        ),
        (
            "create_squad_from_triviaqa.py",
            {
                "input_file": data / "trivia/qa/web-dev.json",
                "evidence_dir": data / "trivia",
                "output_file": "out",
            },
            {
                "input_file": "trivia",
                "evidence_dir": "folder",
                "output_file": "output file",
            },
        ),
        (
            "run_glue.py",
            {k: v for k, v in tune.items() if k != "do_train"}
            | {"glue_dir": data / "glue"},
            {"glue_dir": "folder", "output_dir": "output"},
        ),
        (
            "run_squad.py",
            tune
            | {
                "train_file": squad / "train.json",
                "predict_file": squad / "dev.json",
                "max_query_length": 16,
            },
            run | {"train_file": "squad"},
        ),
        *(
            (script, flags | {"data_dir": folder}, run | {"data_dir": kind})
            for script, flags, folder, kind in (
                (
                    "run_classifier.py",
                    tune | {"task_name": "mrpc"},
                    script_runner.SAMPLES / "glue",
                    "mrpc",
                ),
                ("run_classifier.py", classify, data / "csv", "csv"),
                ("run_classifier.py", classify, data / "jsonl", "jsonl"),
                ("run_ner.py", tune, data / "ner", "ner"),
                ("run_swag.py", tune, data / "swag-rows", "swag"),
            )
        ),
    ]
    return [bad_inputs.Command(*command) for command in commands]


def read_flag_types(script, folder):
    """Returns the type of each flag that a script itself defines."""
    done = script_runner.run(script, folder, helpxml=True)
    return {
        flag.findtext("name"): flag.findtext("type")
        for flag in ElementTree.fromstring(done.stdout).iter("flag")
        if flag.findtext("key") == "yes"
    }


def snapshot(folder):
    """Returns what stands in a folder: paths, contents and times."""
    return {
        path: (
            path.stat().st_mtime_ns if path.is_file() else None,
            hashlib.sha1(path.read_bytes()).digest() if path.is_file() else "",
        )
        for path in folder.rglob("*")
    }


def faults(done, before, after):
    """Returns what is not as it should be about a refusal."""
    found = []
    errors = [
        line for line in done.stderr.splitlines() if line.startswith("error: ")
    ]
    if done.status == 0:
        found.append("accepted")
    elif done.status != 1:
        found.append(f"status {done.status}")
    if "Traceback" in done.stderr:
        found.append("a traceback")
    if len(errors) != 1 and done.status != 0:
        found.append(f"{len(errors)} error lines")
    if before != after:
        changed = sorted(
            path.name
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)
        )
        found.append(f"files changed or left: {changed}")
    return found


def test_bad_inputs_are_refused(tmp_path, good_commands, capsys):
    flag_types = {
        script: read_flag_types(script, tmp_path)
        for script in sorted({command.script for command in good_commands})
    }

    def attempt(number):
        rng = random.Random(f"{SEED}/{number}")
        folder = tmp_path / str(number)
        folder.mkdir()
        what, command, flags = bad_inputs.draw(
            rng, good_commands, flag_types, folder
        )
        before = snapshot(folder)
        done = script_runner.run(command.script, folder, **flags)
        found = faults(done, before, snapshot(folder))
        shutil.rmtree(folder)
        if not found:
            return None
        return f"{number}: {command.script} {what[:150]}: " + "; ".join(found)

    inputs = [command.flags.values() for command in good_commands]
    paths = {value for values in inputs for value in values}
    folders = {path.parent for path in paths if hasattr(path, "parent")}
    before = [snapshot(folder) for folder in sorted(folders)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = list(filter(None, pool.map(attempt, range(NUM_INPUTS))))
    assert [snapshot(folder) for folder in sorted(folders)] == before
    with capsys.disabled():
        print(
            f"\n{NUM_INPUTS} bad inputs tried on {len(flag_types)} scripts, "
            f"{len(wrong)} not refused as they should be"
        )
        print("\n".join(wrong))
    assert not wrong
