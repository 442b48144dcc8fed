"""The walks of docs/architecture.md, in the order in which commands call them.

A walk lists each function where a command calls it for the first time.
"""

import asyncio
import re

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

import modeling
from data.classification.classification_features import convert_single_example
from data.tables.tables import Table, read_table
from options.parsed_command import ParsedCommand
from serving.engines import EngineOptions
from serving.http.app import ServerApp
from serving.http.server_state import ExportToServe
from tests.support import fresh_process
from tests.support.first_calls import noted_calls, run_and_note_calls
from tests.support.models import tiny_config
from tests.support.paths import ROOT, SAMPLES
from tests.support.serving import asgi
from tests.support.tables.labeled_tables import open_tables
from tests.support.tasks.task_sets import create_classifier_start, create_set
from tests.support.tasks.toy_task import load_tokenizer
from tools import export
from tools.exporting.export_config import ExportConfig
from training.tasks.classifier import ClassifierTask

VOCAB = f"--vocab_file={SAMPLES}/vocab.txt"
CONFIG = f"--bert_config_file={SAMPLES}/bert_config.json"
LENGTH = "--max_seq_length=32"
CREATE_DATA = [
    "create_pretraining_data.py",
    f"--input_file={SAMPLES}/corpus.txt",
    VOCAB,
    LENGTH,
    "--dupe_factor=1",
]


def read_walk(title):
    """Returns the text of a walk, by its title."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    return page.split(f"\n### {title}")[1].split("\n##")[0]


def read_functions(title):
    """Returns [(file, function)] of the table of a walk, by its title."""
    row = r"^\| `([\w./]+)` \| (?:\*\*)?`([\w.]+)`"
    return re.findall(row, read_walk(title), re.M)


def in_order_of(calls, functions):
    """Returns those of the functions that were called, in this order."""
    return [*dict.fromkeys(call for call in calls if call in functions)]


def test_a_request_calls_the_functions_of_its_walk(classified):
    export = ExportToServe(str(classified.folder / "export"), EngineOptions())
    path = "/api/models/m/classify"
    request = {"text_a": "A boat.", "text_b": "A ship."}
    with noted_calls() as calls:
        app = ServerApp.create({"m": export})
        app.state.load_models()
        status, _ = asyncio.run(asgi.post(app, path, request))
    assert status == 200
    functions = read_functions("A request")
    assert in_order_of(calls, functions) == functions


def test_a_model_calls_the_functions_of_the_walk_to_its_export(
    classified, tmp_path
):
    flags = {
        "model": str(classified.folder / "run"),
        "export_dir": str(tmp_path / "export"),
    }
    parsed = ParsedCommand(ExportConfig.from_values(**flags), flags)
    with noted_calls() as calls:
        export.main(parsed)
    functions = read_functions("A trained model")
    assert in_order_of(calls, functions) == functions


def test_the_walk_of_a_row_shows_what_becomes_of_it(tmp_path):
    """The network has random weights, as before the first training step."""
    table = tmp_path / "dev.csv"
    table.write_text("text,label\nA boat.,boats\n")
    (tmp_path / "train.csv").write_text(
        "text,label\nA farm.,farms\nA ship.,boats\n"
    )
    labels = ["boats", "farms"]

    (row,) = read_table(Table(table), ["text"], ["label"])
    processor = open_tables(tmp_path)
    (example,) = processor.sets.read("dev")
    features = convert_single_example(0, example, labels, 8, load_tokenizer())
    config = tiny_config(vocab_size=1600)
    inputs = {
        name: np.array([getattr(features, name)], "int32")
        for name in ("input_ids", "input_mask", "segment_ids")
    }
    logits = np.array(modeling.BertClassifier(config, 2, seed=0)(inputs))
    start = create_classifier_start(tmp_path, task_name="csv", max_seq_length=8)
    task = ClassifierTask(
        start,
        processor,
        labels=labels,
        num_texts=1,
        exported_num_texts=1,
        class_weights={},
    )
    scores = task.compute_scores(create_set("dev", [example]), [({}, logits)])

    shown = dict(
        re.findall(r"^\| (\w+) \| `(.+)` \|$", read_walk("A row"), re.M)
    )
    assert shown == {
        "cells": str(row.cells),
        "example": f"text_a={example.text_a!r}, label={example.label!r}",
        "features": (
            f"input_ids={features.input_ids}, "
            f"input_mask={features.input_mask}, label_id={features.label_id}"
        ),
        "logits": str([round(float(logit), 2) for logit in logits[0]]),
        "score": f"eval_accuracy={scores.overall['eval_accuracy']}",
    }


@pytest.mark.slow
def test_a_row_calls_the_functions_of_its_walk(tmp_path):
    calls = run_and_note_calls(
        tmp_path,
        "run_classifier.py",
        f"--data_file={SAMPLES}/topics/train.csv",
        CONFIG,
        VOCAB,
        # The length is left open, because the walk reads the rows to decide it.
        "--num_train_epochs=1",
        "--output_dir=run",
    )
    functions = read_functions("A row of a table")
    assert in_order_of(calls, functions) == functions


@pytest.mark.slow
def test_a_text_calls_the_functions_of_its_walk(tmp_path):
    created = run_and_note_calls(tmp_path, *CREATE_DATA, "--output_file=masked")
    # Training masks these records, which is a function of its own.
    fresh_process.run(
        *CREATE_DATA,
        "--dynamic_masking",
        f"--output_file={tmp_path}/unmasked",
    ).check()
    trained = run_and_note_calls(
        tmp_path,
        "run_pretraining.py",
        "--input_file=unmasked-*",
        CONFIG,
        VOCAB,
        LENGTH,
        "--num_train_steps=2",
        "--do_train",
        "--output_dir=pretrained",
    )
    functions = read_functions("A text of a corpus")
    assert in_order_of([*created, *trained], functions) == functions
