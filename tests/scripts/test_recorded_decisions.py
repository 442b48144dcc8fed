"""What a run decided holds for every later command on its folder.

Also covers recorded_splits.py.
"""

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
    """The folder of a run that held out a part of its own of its table."""
    folder = tmp_path_factory.mktemp("split")
    write_table(folder / "table.csv", rows)
    train(folder, model_flags, output_dir="run", seed=1, dev_fraction=0.3)
    return folder


def train(folder, model_flags, **flags):
    """Trains on a table for one epoch. Returns its Done."""
    given = {"data_file": "table.csv", "num_train_epochs": 1}
    given |= {"report": False, "export_dir": f"{flags['output_dir']}_model"}
    return script_runner.run(
        "run_classifier.py", folder, **model_flags | given | flags
    ).check()


def run_later(folder, **flags):
    """Runs a command that does not train. Returns its Done."""
    given = {"do_train": False, "data_file": "table.csv", "output_dir": "run"}
    return script_runner.run("run_classifier.py", folder, **given | flags)


def split_of(folder):
    """Returns the split that a run recorded."""
    return read_json(folder / "model.json")["origin"]["settings"]["split"]


def doubts(done):
    """Returns the warnings that rows may have been trained on."""
    text = "may have been trained on"
    return [line for line in done.stderr.splitlines() if text in line]


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags", [{}, {"seed": 2}, {"dev_fraction": 0.3}, {"seed": 1}]
)
def test_an_evaluation_scores_the_runs_own_dev_set(trained, flags):
    assert split_of(trained / "run") == {
        "rule": 1,
        "dev_fraction": 0.3,
        "key": ["text"],
        "clean_fraction": 0.3,
    }
    before = read_results(trained / "run")
    predictions = (trained / "run/dev_predictions.csv").read_bytes()
    done = run_later(trained, **flags).check()
    assert not doubts(done) and "are only shown" not in done.stderr
    assert read_results(trained / "run") == before
    assert (trained / "run/dev_predictions.csv").read_bytes() == predictions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fraction", "is_doubted"), [(0.5, True), (0.31, True), (0.2, False)]
)
def test_another_fraction_leaves_the_files_of_the_run(
    trained, fraction, is_doubted
):
    before = contents(trained / "run")
    export = (trained / "run_model/README.md").stat().st_mtime_ns
    done = run_later(trained, dev_fraction=fraction).check()
    assert len(doubts(done)) == is_doubted
    for text in (f"={fraction:g}.", "--output_dir=run", "=0.3,"):
        assert not is_doubted or text in doubts(done)[0]
    assert "eval_accuracy" in done.stderr
    assert "are only shown" in done.stderr
    assert contents(trained / "run") == before
    assert (trained / "run_model/README.md").stat().st_mtime_ns == export


@pytest.mark.slow
@pytest.mark.parametrize("change", ["more", "fewer", "sorted", "cased"])
def test_another_table_has_no_row_that_was_trained_on(trained, rows, change):
    changed = {
        "more": [*rows, *[(f"new text {i}", rows[0][1]) for i in range(12)]],
        "fewer": rows[20:],
        "sorted": sorted(rows),
        "cased": [(text.upper(), label) for text, label in rows],
    }[change]
    write_table(trained / "other.csv", changed)
    before = contents(trained / "run")
    done = run_later(trained, data_file="other.csv").check()
    assert not doubts(done) and "are only shown" in done.stderr
    assert contents(trained / "run") == before
    # A copy writes them. Each row of the dev set was one before, or is new.
    flags = {"init_checkpoint": "run", "output_dir": f"on_{change}"}
    done = run_later(trained, data_file="other.csv", **flags).check()
    assert not doubts(done) and "are only shown" not in done.stderr
    scored = texts_in(trained / flags["output_dir"])
    known = {text.upper() for text, _ in rows}
    assert scored & known <= texts_in(trained / "run")


def texts_in(folder):
    """Returns the texts of a dev set that was scored, in capitals."""
    with (folder / "dev_predictions.csv").open(encoding="utf-8") as file:
        return {row["text"].upper() for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def chain(trained, model_flags):
    """Three runs, each of which starts from the one before.

    The first holds out 0.2 of the table, and the second 0.5, which the third
    inherits.

    Returns:
        {name of the run's folder: its Done}.
    """
    flags = {
        "a": {},
        "b": {"init_checkpoint": "a", "dev_fraction": 0.5},
        "c": {"init_checkpoint": "b"},
    }
    return {
        name: train(trained, model_flags, output_dir=name, **more)
        for name, more in flags.items()
    }


@pytest.mark.slow
def test_a_start_that_held_out_less_is_in_doubt(trained, chain):
    (doubt,) = doubts(chain["b"])
    assert "--init_checkpoint=a was trained with --dev_fraction=0.2" in doubt
    assert split_of(trained / "b")["clean_fraction"] == 0.2


@pytest.mark.slow
def test_a_chain_of_starts_is_as_clean_as_its_smallest_fraction(trained, chain):
    (doubt,) = doubts(chain["c"])
    assert "a start of --init_checkpoint=b" in doubt
    assert split_of(trained / "c")["dev_fraction"] == 0.5
    assert len(doubts(run_later(trained, output_dir="c").check())) == 1


@pytest.mark.slow
def test_what_all_of_a_chain_held_out_is_not_in_doubt(
    trained, chain, model_flags
):
    after = {"init_checkpoint": "c", "output_dir": "d", "dev_fraction": 0.2}
    assert not doubts(train(trained, model_flags, **after))


@pytest.fixture(scope="module")
def on_own_sets(trained, chain, rows):
    """The folder of a run on the user's own sets, after the chain."""
    (trained / "sets").mkdir()
    for name in ("train", "dev"):
        write_table(trained / f"sets/{name}.csv", rows[:60])
    script_runner.run(
        "run_classifier.py",
        trained,
        data_dir="sets",
        task_name="csv",
        init_checkpoint="c",
        output_dir="e",
        do_train=True,
        max_seq_length=32,
        num_train_epochs=1,
    ).check()
    return trained / "e"


@pytest.mark.slow
def test_a_run_on_own_sets_passes_on_the_split_of_its_start(
    trained, on_own_sets
):
    assert split_of(on_own_sets) == split_of(trained / "c")


@pytest.mark.slow
def test_own_sets_between_two_tables_are_in_doubt(trained, on_own_sets):
    """They may be of the table's rows."""
    flags = {"dev_fraction": 0.2, "output_dir": "f"}
    flags["init_checkpoint"] = on_own_sets.name
    (doubt,) = doubts(run_later(trained, **flags).check())
    assert "--init_checkpoint=e chose its dev set in another way" in doubt


@pytest.mark.slow
def test_a_copy_of_the_weights_passes_on_their_split(trained, chain):
    script_runner.run(
        "tools.convert_checkpoint",
        trained,
        init_checkpoint="c",
        output_dir="copied",
    ).check()
    assert split_of(trained / "copied") == split_of(trained / "c")


@pytest.mark.slow
def test_sets_of_ones_own_before_a_table_are_in_doubt(
    trained, model_flags, rows
):
    (trained / "own").mkdir()
    for name in ("train", "dev"):
        write_table(trained / f"own/{name}.csv", rows[:60])
    own = {"data_file": None, "data_dir": "own", "task_name": "csv"}
    own |= {"do_train": True, "export_dir": None, "max_seq_length": 32}
    train(trained, model_flags, output_dir="of_sets", **own)
    after = {"init_checkpoint": "of_sets", "output_dir": "then"}
    assert len(doubts(train(trained, model_flags, **after))) == 1
    assert split_of(trained / "then")["clean_fraction"] == 0


@pytest.fixture(scope="module")
def other_rule(trained):
    """The folder of a run of a version with another rule for the dev set."""
    folder = shutil.copytree(trained / "run", trained / "other_rule")
    file = folder / "model.json"
    described = read_json(file)
    described["origin"]["settings"]["split"]["rule"] += 1
    file.write_text(json.dumps(described))
    return folder


@pytest.mark.slow
def test_a_run_of_another_rule_is_scored_and_left_as_it_is(trained, other_rule):
    before = contents(other_rule)
    done = run_later(trained, output_dir="other_rule").check()
    (doubt,) = doubts(done)
    assert "--output_dir=other_rule chose its dev set in another way" in doubt
    assert "eval_accuracy" in done.stderr
    assert contents(other_rule) == before


@pytest.mark.slow
def test_a_start_of_another_rule_is_in_doubt(trained, other_rule, model_flags):
    after = {"init_checkpoint": "other_rule", "output_dir": "changed"}
    done = train(trained, model_flags, **after)
    assert "--init_checkpoint=other_rule chose its" in doubts(done)[0]
    assert split_of(trained / "changed")["clean_fraction"] == 0


@pytest.mark.slow
def test_a_run_does_not_go_on_with_another_table(trained, model_flags, rows):
    changes = {
        "table.csv has changed: 90 rows then, 102 now": [
            *rows,
            *[(f"new text {i}", rows[0][1]) for i in range(12)],
        ],
        "table.csv has changed, although it has 90 rows": sorted(rows),
    }
    given = {"num_train_epochs": 1, "seed": 1, "data_file": "table.csv"}
    given |= model_flags
    try:
        for error, changed in changes.items():
            write_table(trained / "table.csv", changed)
            done = script_runner.run(
                "run_classifier.py", trained, output_dir="run", **given
            )
            assert error in done.error
            assert "--init_checkpoint=run" in done.error
            assert "train_records" not in done.error
    finally:
        write_table(trained / "table.csv", rows)
    done = script_runner.run(
        "run_classifier.py",
        trained,
        output_dir="run",
        dev_fraction=0.4,
        **given,
    )
    assert "--dev_fraction=0.3; received 0.4" in done.error


@pytest.mark.slow
@pytest.mark.parametrize("model", ["output_dir", "init_checkpoint"])
def test_texts_of_another_column_are_in_doubt(
    tmp_path, model_flags, rows, model
):
    with (tmp_path / "table.csv").open("w", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["title", "text", "label"])
        table.writerows(
            [" ".join(text.split()[-3:]), text, label] for text, label in rows
        )
    train(tmp_path, model_flags, output_dir="run", text_column="title")
    before = contents(tmp_path / "run")
    flags = {"output_dir": "new", "text_column": "text"} | {model: "run"}
    (doubt,) = doubts(run_later(tmp_path, **flags).check())
    assert "by 'title'" in doubt and "by 'text'" in doubt
    assert contents(tmp_path / "run") == before


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
