"""tools.search on a table of two colors and a network of one block."""

import json
import time

import pytest

from tests import script_runner

optuna = pytest.importorskip("optuna")


@pytest.fixture
def flags(tiny, tmp_path):
    (tmp_path / "data").mkdir()
    lines = ["the red boat,red", "the blue boat,blue"] * 12
    text = "\n".join(["text,label", *lines]) + "\n"
    (tmp_path / "data/train.csv").write_text(text)
    return {
        "data_dir": "data",
        "study": "study.db",
        "space": "learning_rate=1e-4:1e-3:log,train_batch_size=4|8",
        "folds": 2,
        "vocab_file": script_runner.SAMPLES / "vocab.txt",
        "bert_config_file": tiny / "one_block/bert_config.json",
        "max_seq_length": 16,
        "num_train_epochs": 1,
    }


@pytest.mark.slow
def test_a_study_goes_on_where_it_was_killed(flags, tmp_path):
    runs = tmp_path / "study_runs"

    def begun():
        return (runs / "trial_0/run_2.log").exists()

    done = script_runner.run(
        "tools.search", tmp_path, kill_when=begun, trials=2, **flags
    )
    assert done.status < 0
    end = time.monotonic() + script_runner.TIMEOUT
    # The run that it had started comes to its end.
    while not (runs / "trial_0/run_2/summary.json").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    # For the study, the process is gone for long.
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/study.db")
    with storage.scoped_session() as session:
        models = optuna.storages._rdb.models
        (beat,) = session.query(models.TrialHeartbeatModel).all()
        beat.heartbeat = beat.heartbeat.replace(year=2000)
        session.commit()
    done = script_runner.run("tools.search", tmp_path, trials=2, **flags)
    lines = done.check().stdout.splitlines()
    assert lines[0].split() == ["trial", "f1_macro", "flags"]
    assert len(lines) == 3
    # The trial that was killed, and another one.
    found = {path.name for path in runs.glob("trial_*")}
    assert found == {"trial_0", "trial_2"}
    log = (runs / "trial_0/run_1.log").read_text()
    assert "Nothing left to do" in log
    values = []
    for fold in (1, 2):
        path = runs / f"trial_0/run_{fold}/summary.json"
        figures = json.loads(path.read_text())["results"]
        values.append(figures["eval_results.txt"]["f1_macro"])
        for name in ("train", "dev"):
            rows = (runs / f"fold_{fold}/{name}.jsonl").read_text().splitlines()
            labels = [json.loads(row)["label"] for row in rows]
            assert labels.count("red") == labels.count("blue") == 6
    assert f"{sum(values) / 2:.4f} ±" in done.stdout
    again = script_runner.run("tools.search", tmp_path, trials=2, **flags)
    assert again.check().stdout == done.stdout
    other = flags | {"num_train_epochs": 2}
    done = script_runner.run("tools.search", tmp_path, trials=3, **other)
    assert "--study=study.db was begun with other flags or data" in done.error


def test_what_is_wrong_is_named_in_one_line(flags, tmp_path):
    space = "--study=1.db --space=learning_rate=1e-4"
    cases = [
        (space, "--space: learning_rate=1e-4 must"),
        ("--study=2.db --space=seed=5:1", "--space: seed=5:1 must have"),
        ("--study=3.db --folds=40", "--folds=40: Cannot have number of splits"),
        ("--study=4.db --data_dir=.", "there is no train set in .:"),
        ("--study=5.db --max_seq_len=3", "command line flag 'max_seq_len'"),
    ]
    flags |= {"trials": 1}
    script_runner.check_errors(tmp_path, "tools.search", flags, cases)
