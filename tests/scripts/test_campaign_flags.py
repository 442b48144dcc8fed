"""Each flag of each runner, changed once after training.

Its role (files/flags.py) decides what must happen: an error that names it, the
same predictions, or other ones as asked. BERT_CAMPAIGN_TABLE is a file to
write what happened to.
"""

import dataclasses
import importlib
import json
import os
import shutil
import typing

import pytest

from files import flags
from files.flags import Role
from tests import script_runner
from tests.conftest import write_config
from tests.script_runner import parse_flags
from tests.scripts import test_run_ner, test_run_swag

SAMPLES = script_runner.SAMPLES
COMMON = """
    --do_train --do_predict --max_seq_length=32 --train_batch_size=8
    --num_train_epochs=1 --learning_rate=1e-3 --summary_steps=0
"""
COMMANDS = {
    "run_ner": f"{COMMON} --do_eval --data_dir=data",
    "run_swag": f"{COMMON} --do_eval --data_dir=data",
    "run_classifier": f"{COMMON} --do_eval --data_dir=data --task_name=csv",
    "run_squad": f"""
        {COMMON} --train_file=data/train.json --predict_file=data/dev.json
        --max_seq_length=64 --max_query_length=24
    """,
    "run_pretraining": """
        --do_train --do_eval --input_file=data/train.tfrecord
        --max_seq_length=32 --max_predictions_per_seq=5 --train_batch_size=16
        --num_train_steps=4 --num_warmup_steps=1 --summary_steps=0
        --do_lower_case=True
    """,
}
# Another value, where none follows from the flag's type. A file is a changed
# copy; see `write_others`.
VALUES = {
    "bert_config_file": "other_config.json",
    "class_weights": "balanced",
    "data_dir": "other",
    "eval_input_file": "other.tfrecord",
    "export_dir": "export",
    "export_format": "litert",
    "export_weights": "weights",
    "gcp_project": "p",
    "init_checkpoint": "start",
    "init_layers": "0",
    "input_file": "other.tfrecord",
    "labels": "O,B-LOC,I-ORG,B-ORG",
    "id_column": "text",
    "label_column": "text",
    "label_separator": ";",
    "master": "local",
    "metric_for_best": "accuracy",
    "predict_file": "other/dev.json",
    "task_name": "mrpc",
    "teacher": "start",
    "text_b_column": "label",
    "text_column": "label",
    "tpu_name": "t",
    "tpu_zone": "z",
    "train_file": "other/train.json",
    "vocab_file": "other_vocab.txt",
}
WORDS = ("red", "blue", "the river")
# The run itself, and what the command is to do.
LEFT_OUT = {"output_dir", "do_train", "do_eval", "do_predict"}
# What errors say where they do not name the flag.
SAYS = {
    "task_name": "there is no dev set in",
    "glue_submission": "GLUE's site accepts",
}
RESULTS = {
    "run_ner": "predictions.jsonl",
    "run_swag": "predictions.jsonl",
    "run_classifier": "predictions.jsonl",
    "run_squad": "predictions.json",
    "run_pretraining": "eval_results.txt",
}


def config_of(runner):
    return importlib.import_module(runner).Config


def shared_with_ner():
    return {field.name for field in dataclasses.fields(config_of("run_ner"))}


def fields_of(runner):
    """Returns the flags to change: of what all share, one runner's."""
    found = flags.fields(config_of(runner), *Role)
    if runner in ("run_ner", "run_pretraining"):
        return found
    return [field for field in found if field.name not in shared_with_ner()]


@pytest.mark.parametrize("runner", COMMANDS)
def test_every_flag_has_a_role(runner):
    config = config_of(runner)
    roles = {field.name for field in flags.fields(config, *Role)}
    every = {field.name for field in dataclasses.fields(config)}
    # Fields that are no flags.
    every -= {"all_flags", "given_flags"}
    if runner == "run_squad":
        every -= {"do_eval", "eval_batch_size"}
    assert roles == every


def write_data(folder, runner, tiny):
    """Writes a runner's data, and a changed copy of all that a flag names."""
    data = folder / "data"
    data.mkdir(parents=True)
    for name, count in (("train", 24), ("valid", 9), ("test", 5)):
        test_run_ner.write_set(data / f"{name}.txt", count)
    for name, count in (("train", 16), ("val", 10), ("test", 5)):
        if runner == "run_swag":
            test_run_swag.write_set(data / f"{name}.csv", count)
    for name, count in (("train", 24), ("dev", 12), ("test", 6)):
        rows = [f"{WORDS[i % 2]} {WORDS[i % 3]},{i % 2}" for i in range(count)]
        if runner == "run_classifier":
            path = data / f"{name}.csv"
            path.write_text("\n".join(["text,label", *rows]) + "\n")
        questions = json.loads((SAMPLES / "squad/train.json").read_text())
        questions["data"] = questions["data"][:1]
        if runner == "run_squad":
            (data / f"{name}.json").write_text(json.dumps(questions))
    shutil.copytree(data, folder / "other")
    for path in (folder / "other").glob("train.*"):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".csv":
            text = "\n".join(text.splitlines()[:-1]) + "\n"
        text = text.replace("I-LOC", "B-LOC", 1).replace("The", "A", 1)
        path.write_text(text, encoding="utf-8")
    (folder / "weights.json").write_text('{"0": 1, "1": 2}')
    shutil.copy(tiny / "train.tfrecord", data)
    script_runner.create_records(folder, "other.tfrecord", random_seed=3)
    write_config(folder / "other_config.json", num_attention_heads=1)
    tokens = (SAMPLES / "vocab.txt").read_text("utf-8").splitlines()
    tokens[-1], tokens[-2] = tokens[-2:]
    (folder / "other_vocab.txt").write_text("\n".join(tokens), "utf-8")


def other_value(field, hints, given):
    """Returns another value of a flag than the one it has."""
    meta, name = flags.meta_of(field), field.name
    if name in VALUES:
        return VALUES[name]
    now = given.get(name, field.default)
    kind = hints[name]
    if meta.choices:
        return next(each for each in meta.choices if each != now)
    if kind is bool:
        return not now
    if bool in typing.get_args(kind) or kind is str:
        raise AssertionError(f"--{name}: add a value to VALUES")
    now = float(now or 0)
    if int in (kind, *typing.get_args(kind)):
        return int(now) + (2 if name.endswith("batch_size") else 1)
    return now / 2 or 0.25


@pytest.fixture(params=COMMANDS)
def trained(request, tmp_path, tiny, model_flags):
    """(runner, folder, flags) of a run that has ended."""
    runner = request.param
    write_data(tmp_path, runner, tiny)
    given = parse_flags(COMMANDS[runner]) | {"output_dir": "run"}
    given |= model_flags
    if runner == "run_pretraining":
        del given["init_checkpoint"]
    script_runner.run(f"{runner}.py", tmp_path, **given).check()
    # Other weights to start from.
    shutil.copytree(tmp_path / "run", tmp_path / "start")
    return runner, tmp_path, given


def judge(field, done, before, after):
    """Returns what a change did, and whether its role allows that."""
    name, role = field.name, flags.meta_of(field).role
    if done.status:
        # A path counts by what is in its files, which errors name.
        is_named = SAYS.get(name, name) in done.error or name in done.error
        is_named = is_named or flags.meta_of(field).kind
        return f"error: {done.error[:90]}", is_named
    if before == after and role is Role.NEUTRAL:
        return "the same results", True
    if flags.meta_of(field).may_grow:
        return "trained on", True
    # The predictions of --id_column are named by it.
    is_asked = name == "id_column" or role in (Role.DECODING, Role.HEAD)
    return "as asked" if is_asked else "silent", is_asked


@pytest.mark.soak
def test_no_change_is_silent(trained):
    runner, folder, given = trained
    hints = typing.get_type_hints(config_of(runner))
    before = (folder / "run" / RESULTS[runner]).read_bytes()
    table, wrong = [], []
    for field in fields_of(runner):
        role = flags.meta_of(field).role
        if field.name in LEFT_OUT:
            continue
        value = other_value(field, hints, given)
        commands = {"train again": given}
        if role in (Role.IDENTITY, Role.HEAD, Role.DECODING):
            # What uses the head as it is.
            commands["predict"] = given | {"do_train": False}
        for what, command in commands.items():
            copy = folder / "copy"
            shutil.copytree(folder / "run", copy)
            done = script_runner.run(
                f"{runner}.py",
                folder,
                **command | {"output_dir": copy, field.name: value},
            )
            after = (copy / RESULTS[runner]).read_bytes()
            found, is_right = judge(field, done, before, after)
            if role in (Role.TRAINING, Role.IDENTITY) and not done.status:
                is_right = flags.meta_of(field).may_grow and is_right
            if role is Role.HEAD and what == "train again":
                is_right = is_right and bool(done.status)
            row = f"{runner} --{field.name}={value} ({role.value}), {what}"
            table.append(f"{row}: {found}")
            if not is_right:
                wrong.append(f"{row}: {found}\n{done.stderr[-300:]}")
            shutil.rmtree(copy)
    if path := os.environ.get("BERT_CAMPAIGN_TABLE"):
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n".join(table) + "\n")
    assert not wrong, "\n".join(wrong)
