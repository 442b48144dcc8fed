"""run_swag.py on a made-up task in the released files' layout."""

import json
import shutil

import numpy as np
import pytest

from tests import golden, script_runner, task_files
from tests.checkpoints import read_records, serve, values
from tests.script_runner import parse_flags, read_results
from tests.task_runs import check_resume, read_predictions, run_task_test


@pytest.fixture(scope="module")
def flags(tmp_path_factory, tiny):
    """Flags of a run that has ended."""
    folder = tmp_path_factory.mktemp("swag")
    task_files.write_swag_sets(folder)
    flags = script_runner.fine_tuning_flags(
        folder,
        tiny / "one_block",
        num_train_epochs=1,
        learning_rate=1e-3,
        export_dir=folder / "served",
    )
    run_task_test("run_swag.py", flags, "accuracy")
    return flags


def test_serves_what_it_predicts(flags):
    run = flags["output_dir"]
    inputs = read_records(run / "predict.tf_record", [4, 24])
    found = serve(flags["export_dir"], inputs)["probabilities"]
    expected, _ = read_predictions(run)
    assert expected.shape == (10, 4)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    # Of one choice, not of all four.
    model = json.loads((run / "model.json").read_text())
    assert model["task"]["max_seq_length"] == 24


@pytest.mark.slow
def test_resumes(flags):
    check_resume("run_swag.py", flags)


@pytest.mark.slow
def test_evaluates_real_rows_and_exports_weights(flags, tmp_path):
    rows = golden.SHARED / "data/swag/sample.json"
    if rows.exists():
        shutil.copy(rows, tmp_path / "val.jsonl")
    else:
        shutil.copy(flags["data_dir"] / "val.csv", tmp_path)
    evaluating = parse_flags("""
        --do_train=False --do_predict=False --export_weights=given
    """)
    folders = {"data_dir": tmp_path, "output_dir": tmp_path / "evaluated"}
    folders |= {"init_checkpoint": flags["output_dir"], "export_dir": None}
    flags = flags | evaluating | folders
    script_runner.run("run_swag.py", tmp_path, **flags).check()
    assert 0 <= read_results(tmp_path / "evaluated")["accuracy"] <= 1
    given = values(tmp_path / "given/bert_model.ckpt")
    assert given["output_weights"].shape == (1, 32)
    assert not any("adam" in name for name in given)
