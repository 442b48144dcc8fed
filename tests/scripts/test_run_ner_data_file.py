"""Runs of run_ner.py on one file of entities: the split and the files."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import serving
from data.ner.entity_scoring import list_entities
from data.ner.ner_examples import find_words
from tests.support import script_runner
from tests.support.fresh_process import ProcessResult
from tests.support.output_files import read_json_lines, read_results
from tests.support.paths import SAMPLES
from tests.support.script_runner import split_flags
from tests.support.tagged_words import read_annotated_texts
from tests.support.tasks.task_runs import (
    list_evaluated_steps,
    read_length,
    run_commands,
)

pytestmark = pytest.mark.slow


class EntityRun(NamedTuple):
    """A run of run_ner.py on one file.

    Attributes:
        folder: folder in which the command ran. The run is in `run`.
        path: the file.
        rows: {text: (its row of the file, its right entities)}.
        flags: flags of the command.
        done: exit status and output of the command.
    """

    folder: Path
    path: Path
    rows: dict
    flags: dict
    done: ProcessResult


def describe_entities(sentence):
    """Returns the text, words, tags and entities of lines of words and tags."""
    words, tags = zip(*map(str.split, sentence.split("\n")), strict=True)
    text = " ".join(words)
    places = find_words(text, words)
    entities = [
        [places[first][0], places[after - 1][1], entity_type]
        for entity_type, first, after in list_entities(tags)
    ]
    return text, [*words], [*tags], entities


@pytest.fixture(scope="module")
def entities(request, tmp_path_factory, model_flags):
    """An EntityRun on a file whose ending is the parameter.

    Tests may add files to the folder, but change none.
    """
    folder = tmp_path_factory.mktemp("entities")
    path = folder / f"names.{request.param}"
    source = (SAMPLES / "entities/train.txt").read_text()
    sentences = [*dict.fromkeys(source.split("\n\n"))][:80]
    rows = {}
    for number, sentence in enumerate(sentences):
        text, words, tags, right = describe_entities(sentence)
        if request.param == "txt":
            row = {"words": words, "labels": tags}
        else:
            row = {"id": number, "text": text, "label": right}
        rows[text] = row, right
    if request.param == "txt":
        path.write_text("\n\n".join(sentences))
    else:
        lines = [json.dumps(row) for row, _ in rows.values()]
        path.write_text("\n".join(lines))
    flags = model_flags | split_flags(f"""
        --data_file={path.name} --output_dir=run --train_batch_size=4
        --learning_rate=2e-3
    """)
    done = script_runner.run("run_ner.py", folder, **flags).check()
    return EntityRun(
        folder=folder, path=path, rows=rows, flags=flags, done=done
    )


for_each_format_of_entities = pytest.mark.parametrize(
    "entities", ["txt", "jsonl"], indirect=True
)


@for_each_format_of_entities
def test_a_run_on_one_file_of_entities_names_its_files(entities):
    lines = "\n  run/report.html\n  run/dev_predictions.jsonl\n"
    assert lines in entities.done.stderr


@for_each_format_of_entities
def test_the_commands_that_a_run_of_entities_names_succeed(entities):
    is_json = entities.path.suffix == ".jsonl"
    assert run_commands(entities.done, entities.folder) == 1 + is_json


def read_dev_predictions(entities):
    """Returns the predictions of the dev set, as the run wrote them."""
    return read_json_lines(entities.folder / "run/dev_predictions.jsonl")


@for_each_format_of_entities
def test_predictions_of_the_dev_set_keep_the_fields_of_their_rows(entities):
    entries = read_dev_predictions(entities)
    assert len(entries) == 17
    for entry in entries:
        row, _ = entities.rows[entry["text"]]
        assert row.items() <= entry.items()


@for_each_format_of_entities
def test_each_predicted_entity_has_a_probability(entities):
    for entry in read_dev_predictions(entities):
        probabilities = entry["probabilities"]
        assert len(probabilities) == len(entry["predicted_entities"])
        assert all(0 < probability <= 1 for probability in probabilities)


@for_each_format_of_entities
def test_predicted_entities_are_correct_if_they_are_those_of_the_row(entities):
    for entry in read_dev_predictions(entities):
        _, right = entities.rows[entry["text"]]
        assert entry["correct"] == (entry["predicted_entities"] == right)


@for_each_format_of_entities
def test_predicted_entities_of_the_dev_set_have_the_score_of_the_run(entities):
    counts = np.zeros(3, int)
    for entry in read_dev_predictions(entities):
        _, right = entities.rows[entry["text"]]
        predicted = entry["predicted_entities"]
        both = sum(one in right for one in predicted)
        counts += len(predicted), len(right), both
    f1 = read_results(entities.folder / "run")["f1"]
    assert f1 == pytest.approx(2 * counts[2] / counts[:2].sum())
    assert f1 > 0


@for_each_format_of_entities
def test_the_dev_set_is_evaluated_after_each_epoch(entities):
    # 63 sentences in batches of 4, and the last step of 7 epochs.
    steps = [*range(15, 106, 15), 110]
    assert list_evaluated_steps(entities.folder / "run") == steps


@for_each_format_of_entities
def test_the_length_of_a_run_fits_its_short_sentences(entities):
    assert 8 <= read_length(entities.folder / "run") < 64


@for_each_format_of_entities
def test_the_same_command_finds_a_run_of_entities_that_has_ended(entities):
    results = read_results(entities.folder / "run")
    again = script_runner.run("run_ner.py", entities.folder, **entities.flags)
    assert "has ended" in again.check().stderr
    assert read_results(entities.folder / "run") == results


@pytest.fixture(scope="module")
def predictions_of_test_set(entities):
    """File of the predictions for a test set of the same rows."""
    shutil.copy(entities.path, entities.folder / "test.jsonl")
    flags = "--init_checkpoint=run --data_dir=. --output_dir=again --do_predict"
    done = script_runner.run(
        "run_ner.py", entities.folder, **split_flags(flags)
    )
    assert done.check().stderr.endswith("\n  again/predictions.jsonl\n")
    return entities.folder / "again/predictions.jsonl"


for_json_lines = pytest.mark.parametrize("entities", ["jsonl"], indirect=True)


@for_json_lines
def test_the_export_finds_the_entities_of_the_run(entities):
    entries = read_dev_predictions(entities)
    bert = serving.load(entities.folder / "run_model")
    answers = bert.tag([entry["text"] for entry in entries])
    assert [answer["label"] for answer in answers] == [
        entry["predicted_entities"] for entry in entries
    ]


@for_json_lines
def test_entities_of_a_test_set_are_those_of_the_dev_set(
    entities, predictions_of_test_set
):
    """The same model answers the same."""
    predicted = {
        line["text"]: line["entities"]
        for line in read_json_lines(predictions_of_test_set)
    }
    for entry in read_dev_predictions(entities):
        assert predicted[entry["text"]] == entry["predicted_entities"]


@for_json_lines
def test_predictions_of_a_test_set_have_a_line_for_each_row(
    entities, predictions_of_test_set
):
    ids = [line["id"] for line in read_json_lines(predictions_of_test_set)]
    assert ids == [*range(len(entities.rows))]


@for_json_lines
def test_predictions_of_a_test_set_can_be_read_as_a_set(
    predictions_of_test_set,
):
    examples = read_annotated_texts(predictions_of_test_set, "dev")
    assert [example.tags for example in examples] == [
        line["labels"] for line in read_json_lines(predictions_of_test_set)
    ]
