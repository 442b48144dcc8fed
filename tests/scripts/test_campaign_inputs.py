"""Bad inputs are refused, whatever they are; see campaign.py."""

import concurrent.futures
import hashlib
import random
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

from tests import bad_inputs, campaign, script_runner

pytestmark = pytest.mark.soak


CORPUS = script_runner.SAMPLES / "corpus.txt"
# The kinds of a model's flags.
MODEL = {
    "bert_config_file": "config",
    "vocab_file": "vocabulary",
    "init_checkpoint": "checkpoint",
}


@pytest.fixture(scope="module")
def good_commands(
    tmp_path_factory, tiny, pretraining_flags, model_flags, classified
):
    """Commands that are well, with the kinds of their path flags."""
    data = campaign.create_data(tmp_path_factory)
    commands = [
        *commands_on_text(),
        *commands_on_models(pretraining_flags, model_flags),
        *commands_on_results(data, classified[0]),
        *commands_that_fine_tune(data, model_flags),
    ]
    return [bad_inputs.Command(*command) for command in commands]


def commands_on_text():
    make = {
        "input_file": CORPUS,
        "vocab_file": script_runner.SAMPLES / "vocab.txt",
        "output_file": "out",
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
    }
    makes = {
        "input_file": "corpus",
        "vocab_file": "vocabulary",
        "output_file": "output file",
    }
    return [
        ("create_pretraining_data.py", make, makes),
        (
            "create_pretraining_data.py",
            make | {"num_shards": 2},
            makes | {"output_file": "output"},
        ),
        (
            "create_vocabulary.py",
            {"input_file": CORPUS, "output_file": "out", "vocab_size": 300},
            {"input_file": "corpus", "output_file": "output file"},
        ),
    ]


def commands_on_models(pretraining_flags, model_flags):
    return [
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
            | {"input_file": CORPUS, "output_file": "out", "layers": "-1"},
            MODEL | {"input_file": "text", "output_file": "output file"},
        ),
        (
            "convert_checkpoint.py",
            model_flags | {"output_dir": "out"},
            MODEL | {"output_dir": "output"},
        ),
    ]


def commands_on_results(data, classified):
    return [
        (
            "predict.py",
            {
                "model": classified / "export",
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
            {"model": classified / "export", "port": 0},
            {"model": "saved model", "request_log": "output file"},
        ),
        (
            "plot_runs.py",
            {"runs": classified / "run", "html": "out"},
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
    ]


def commands_that_fine_tune(data, model_flags):
    squad, mrpc = (script_runner.SAMPLES / name for name in ("squad", "glue"))
    run = MODEL | {"output_dir": "output", "export_dir": "output"}
    tune = model_flags | {
        "output_dir": "out",
        "do_train": True,
        "max_seq_length": 32,
        "num_train_epochs": 0.1,
    }
    classify = tune | {"task_name": "csv"}
    return [
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
                    mrpc,
                    "mrpc",
                ),
                ("run_classifier.py", classify, data / "csv", "csv"),
                ("run_classifier.py", classify, data / "jsonl", "jsonl"),
                ("run_ner.py", tune, data / "ner", "ner"),
                ("run_swag.py", tune, data / "swag-rows", "swag"),
            )
        ),
    ]


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
        rng = random.Random(f"{campaign.SEED}/{number}")
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
        wrong = list(
            filter(None, pool.map(attempt, range(campaign.NUM_INPUTS)))
        )
    assert [snapshot(folder) for folder in sorted(folders)] == before
    with capsys.disabled():
        print(
            f"\n{campaign.NUM_INPUTS} bad inputs tried on {len(flag_types)} "
            f"scripts, {len(wrong)} not refused as they should be"
        )
        print("\n".join(wrong))
    assert not wrong
