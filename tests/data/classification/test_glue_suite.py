"""Scores and tables of GLUE as a whole."""

import statistics
import zipfile

import pytest

from data.classification import glue_suite

RESULTS = {
    "mrpc": {
        1: {"f1": 0.8, "accuracy": 0.7, "loss": 0.5},
        2: {"f1": 0.9, "accuracy": 0.8, "loss": 0.4},
    },
    "mnli": {
        1: {"accuracy": 0.62, "accuracy_mm": 0.64},
        2: {"accuracy": 0.60, "accuracy_mm": 0.62},
    },
    "wnli": {1: {"accuracy": 0.5}, 2: {"accuracy": 0.6}},
}


def test_scores_are_means_of_metrics_and_the_average_is_over_tasks():
    summary = glue_suite.summarize(RESULTS)
    mrpc = summary["tasks"]["mrpc"]
    assert mrpc["metrics"]["f1"]["values"] == pytest.approx([80, 90])
    assert mrpc["score"]["values"] == pytest.approx([75, 85])
    assert mrpc["score"]["mean"] == pytest.approx(80)
    assert mrpc["score"]["deviation"] == pytest.approx(50**0.5)
    assert [found["best_seed"] for found in summary["tasks"].values()] == [
        2,
        1,
        2,
    ]
    by_seed = [(75 + 63 + 50) / 3, (85 + 61 + 60) / 3]
    assert summary["average"]["values"] == pytest.approx(by_seed)
    assert summary["average"]["deviation"] == pytest.approx(
        statistics.stdev(by_seed)
    )
    # As in the paper.
    without = summary["average_without_wnli"]
    assert without["values"] == pytest.approx([(75 + 63) / 2, (85 + 61) / 2])


def test_the_table_as_text_and_as_markdown():
    summary = glue_suite.summarize(RESULTS)
    assert glue_suite.table(summary).splitlines() == [
        "task                  metrics                                      "
        "score       best seed",
        "MRPC                  f1 85.0 ± 7.1, accuracy 75.0 ± 7.1           "
        "80.0 ± 7.1  2",
        "MNLI                  accuracy 61.0 ± 1.4, accuracy_mm 63.0 ± 1.4  "
        "62.0 ± 1.4  1",
        "WNLI                  accuracy 55.0 ± 7.1                          "
        "55.0 ± 7.1  2",
        "average               3 tasks                                      "
        "65.7 ± 4.2",
        "average without WNLI  2 tasks                                      "
        "71.0 ± 2.8",
    ]
    one = {"rte": {7: {"accuracy": 0.625}}}
    assert glue_suite.table(glue_suite.summarize(one), markdown=True) == (
        "| task | metrics | score | best seed |\n"
        "| --- | --- | --- | --- |\n"
        "| RTE | accuracy 62.5 | 62.5 | 7 |\n"
        "| average | 1 task | 62.5 |  |\n"
    )


def write_task(glue_dir, folder, *names):
    (glue_dir / folder).mkdir()
    for name in names:
        (glue_dir / folder / f"{name}.tsv").touch()


def test_the_tasks_are_those_whose_files_are_there(tmp_path, caplog):
    write_task(tmp_path, "RTE", "train", "dev")
    write_task(tmp_path, "SST-2", "train", "dev", "test")
    # The mismatched sets may be missing.
    write_task(tmp_path, "MNLI", "train", "dev_matched", "test_matched")
    write_task(tmp_path, "QNLI", "dev")
    found = glue_suite.find_tasks(str(tmp_path))
    # In GLUE's order.
    assert list(found.items()) == [
        ("sst-2", f"{tmp_path}/SST-2"),
        ("mnli", f"{tmp_path}/MNLI"),
        ("rte", f"{tmp_path}/RTE"),
    ]
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{tmp_path}/QNLI/train.tsv is not there; qnli is left out"
    )
    assert list(glue_suite.find_tasks(str(tmp_path), ["rte"])) == ["rte"]
    with pytest.raises(FileNotFoundError, match="MRPC/train.tsv is not there"):
        glue_suite.find_tasks(str(tmp_path), ["mrpc"])
    with pytest.raises(FileNotFoundError, match="QNLI/train.tsv is not there"):
        glue_suite.find_tasks(str(tmp_path), ["qnli"])
    with pytest.raises(ValueError, match="--tasks=mrcp is not known"):
        glue_suite.find_tasks(str(tmp_path), ["mrcp"])
    with pytest.raises(ValueError, match="--tasks= names no task; give some"):
        glue_suite.find_tasks(str(tmp_path), [])
    with pytest.raises(FileNotFoundError, match="has none of the tasks"):
        glue_suite.find_tasks(str(tmp_path / "RTE"))


def test_a_task_without_all_its_files_is_an_error(tmp_path):
    write_task(tmp_path, "RTE", "train", "dev")
    # "dev.tsv" is not a name of MultiNLI's.
    write_task(tmp_path, "MNLI", "train", "dev", "dev_mismatched")
    for names in (None, ["rte", "mnli"]):
        with pytest.raises(
            FileNotFoundError, match="MNLI/dev_matched.tsv is not there"
        ):
            glue_suite.find_tasks(str(tmp_path), names)
    with pytest.raises(FileNotFoundError, match="RTE/test.tsv is not there"):
        glue_suite.find_tasks(str(tmp_path), ["rte"], ("train", "dev", "test"))


def test_the_diagnostics_may_be_there(tmp_path):
    assert glue_suite.find_diagnostics(str(tmp_path)) is None
    (tmp_path / "diagnostic").mkdir()
    (tmp_path / "diagnostic" / "diagnostic.tsv").touch()
    found = glue_suite.find_diagnostics(str(tmp_path))
    assert found == f"{tmp_path}/diagnostic"


def test_the_same_files_make_the_same_zip(tmp_path):
    paths = []
    for name in ("RTE", "AX"):
        path = tmp_path / name / f"{name}.tsv"
        path.parent.mkdir()
        path.write_text(f"index\tprediction\n0\t{name}\n")
        paths.append(str(path))
    missing = glue_suite.write_zip(tmp_path / "one.zip", paths)
    paths_again = [tmp_path / "two.zip", paths]
    assert glue_suite.write_zip(*paths_again) == missing
    assert sorted(missing) == sorted(
        ["CoLA.tsv", "SST-2.tsv", "MRPC.tsv", "STS-B.tsv", "QQP.tsv"]
        + ["MNLI-m.tsv", "MNLI-mm.tsv", "QNLI.tsv", "WNLI.tsv"]
    )
    one, two = (tmp_path / name for name in ("one.zip", "two.zip"))
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.namelist() == ["RTE.tsv", "AX.tsv"]
        assert archive.read("AX.tsv").endswith(b"AX\n")
