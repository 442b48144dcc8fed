"""What a run decided holds for every later command on its folder."""

import csv
import json
import shutil

import pytest

import serving
from files.json_files import read_json
from tests.support import script_runner
from tests.support.script_runner import SAMPLES, parse_flags, read_results

# Files of the run that a command which does not train may replace.
RESULTS = ("README.md", "dev_predictions.csv", "eval_results.txt", "model.json")


def contents(folder):
    """Returns {name: bytes} of the results of a run."""
    return {name: (folder / name).read_bytes() for name in RESULTS}


def write_table(path, rows):
    """Writes a table of texts and labels."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])


@pytest.fixture(scope="module")
def rows():
    """Texts and labels of a table."""
    with open(SAMPLES / "topics/train.csv", encoding="utf-8") as file:
        found = [*csv.DictReader(file)][:90]
    return [(row["text"], row["label"]) for row in found]


@pytest.fixture(scope="module")
def trained(tmp_path_factory, model_flags, rows):
    """The folder of a run that split its table in its own way."""
    folder = tmp_path_factory.mktemp("split")
    write_table(folder / "table.csv", rows)
    flags = model_flags | parse_flags("""
        --data_file=table.csv --output_dir=run --num_train_epochs=1
        --seed=1 --dev_fraction=0.3
    """)
    script_runner.run("run_classifier.py", folder, **flags).check()
    return folder


def run_later(folder, **flags):
    """Runs a command that does not train. Returns its Done."""
    given = {"do_train": False, "data_file": "table.csv", "output_dir": "run"}
    return script_runner.run("run_classifier.py", folder, **given | flags)


@pytest.mark.slow
def test_an_evaluation_scores_the_runs_own_dev_set(trained):
    before = read_results(trained / "run")
    predictions = (trained / "run/dev_predictions.csv").read_bytes()
    run_later(trained).check()
    assert read_results(trained / "run") == before
    assert (trained / "run/dev_predictions.csv").read_bytes() == predictions
    # The values of the run may be repeated.
    run_later(trained, seed=1, dev_fraction=0.3).check()
    assert read_results(trained / "run") == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "culprit"),
    [
        ({"seed": 2}, "--seed=2"),
        ({"dev_fraction": 0.2}, "--dev_fraction=0.2"),
        ({"output_mode": "multilabel"}, "--output_mode=multilabel"),
    ],
)
def test_another_split_is_refused(trained, flags, culprit):
    before = contents(trained / "run")
    error = run_later(trained, **flags).error
    assert culprit in error and "was trained on" in error
    assert contents(trained / "run") == before


@pytest.fixture(scope="module")
def named(tmp_path_factory, model_flags, rows):
    """The folder of a run whose flags named a column of its table."""
    folder = tmp_path_factory.mktemp("named")
    with (folder / "table.csv").open("w", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["title", "text", "label"])
        titles = [" ".join(text.split()[-3:]) for text, _ in rows]
        table.writerows(
            [title, text, label]
            for title, (text, label) in zip(titles, rows, strict=True)
        )
    flags = model_flags | parse_flags("""
        --data_file=table.csv --output_dir=run --num_train_epochs=1
        --text_column=title
    """)
    script_runner.run("run_classifier.py", folder, **flags).check()
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("model", ["output_dir", "init_checkpoint"])
@pytest.mark.parametrize("name", ["table.csv", "renamed.csv"])
def test_another_column_of_the_runs_table_is_refused(named, model, name):
    shutil.copy(named / "table.csv", named / "renamed.csv")
    before = contents(named / "run")
    flags = {"output_dir": "new", "data_file": name} | {model: "run"}
    error = run_later(named, **flags).error
    assert "Set --text_column=title" in error
    assert contents(named / "run") == before


@pytest.mark.slow
def test_a_copy_of_the_model_scores_a_table_with_other_columns(trained, rows):
    with (trained / "reviews.csv").open("w", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [
                ("review", "label", "text"),
                *[(text, label, "another text") for text, label in rows],
            ]
        )
    done = run_later(
        trained,
        init_checkpoint="run",
        output_dir="reviewed",
        data_file="reviews.csv",
        text_column="review",
        dev_fraction=0.5,
    )
    done.check()
    assert "Do not trust its scores" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("change", ["more", "sorted", "corrected"])
def test_another_table_is_not_scored(trained, rows, change):
    changed = {
        "more": [*rows, *[("a new text", rows[0][1])] * 12],
        "sorted": sorted(rows),
        "corrected": [*rows[:-1], (rows[-1][0], rows[0][1])],
    }
    write_table(trained / "other.csv", changed[change])
    before = contents(trained / "run")
    error = run_later(trained, data_file="other.csv").error
    assert "other.csv" in error and "table.csv" in error
    assert contents(trained / "run") == before


@pytest.mark.slow
def test_a_folder_with_the_table_is_not_scored(trained):
    (trained / "data").mkdir()
    shutil.copy(trained / "table.csv", trained / "data/dev.csv")
    before = contents(trained / "run")
    flags = {"data_file": None, "data_dir": "data", "do_eval": True}
    error = run_later(trained, **flags).error
    assert "dev.csv" in error and "table.csv" in error
    assert contents(trained / "run") == before


@pytest.mark.slow
def test_scores_of_another_dev_set_are_not_replaced_in_silence(trained, rows):
    shutil.copytree(trained / "run", trained / "replaced")
    (trained / "other").mkdir()
    write_table(trained / "other/dev.csv", rows[:20])
    flags = {"data_file": None, "data_dir": "other", "do_eval": True}
    done = run_later(trained, output_dir="replaced", **flags).check()
    assert "dev.csv is not the dev set of --output_dir=replaced" in done.stderr
    assert "which was of table.csv" in done.stderr


@pytest.fixture(scope="module")
def answered(tmp_path_factory, tiny):
    """The folder of a run on SQuAD that answered without padding."""
    folder = tmp_path_factory.mktemp("squad")
    flags = parse_flags(f"""
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={SAMPLES}/vocab.txt --output_dir=run
        --do_train --do_predict --max_seq_length=64 --max_query_length=24
        --doc_stride=16 --n_best_size=5 --train_batch_size=8
        --train_file={SAMPLES}/squad/train-v2.json
        --predict_file={SAMPLES}/squad/dev-v2.json --version_2_with_negative
        --num_train_epochs=0.1 --learning_rate=1e-3 --trim_padding
    """)
    script_runner.run("run_squad.py", folder, **flags).check()
    return folder


@pytest.mark.slow
def test_answers_are_found_with_the_padding_of_the_training(answered):
    name = "null_odds.json"
    before = read_json(answered / "run" / name)
    file = f"{SAMPLES}/squad/dev-v2.json"
    flags = {"do_predict": True, "predict_file": file, "output_dir": "run"}
    script_runner.run("run_squad.py", answered, **flags).check()
    assert read_json(answered / "run" / name) == pytest.approx(before, abs=1e-3)
    # The run's export and that of the tool decide as the run.
    later = {"init_checkpoint": "run", "output_dir": "new"}
    script_runner.run(
        "run_squad.py", answered, export_dir="by_run", **later
    ).check()
    script_runner.run(
        "tools.export", answered, model="run", export_dir="by_tool"
    ).check()
    for folder in ("by_run", "by_tool"):
        settings = serving.load(answered / folder).settings
        assert settings["trim_padding"] is True, folder


def test_two_files_that_disagree_on_the_casing_are_both_named(trained):
    folder = shutil.copytree(trained / "run", trained / "contradiction")
    file = folder / "tokenizer_config.json"
    settings = read_json(file)
    settings["do_lower_case"] = not settings["do_lower_case"]
    file.write_text(json.dumps(settings))
    done = run_later(trained, output_dir="contradiction")
    assert "tokenizer_config.json" in done.error
    assert "model.json" in done.error
