"""Paths that scripts refuse before any work, as a user meets it."""

import os

import pytest

from tests import script_runner


def test_scripts_leave_an_input_that_is_also_the_output(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    for name in ("a.txt", "model/vocab.txt", "model/bert_model.ckpt.index"):
        (tmp_path / name).write_text(name)
    os.symlink("a.txt", tmp_path / "link.txt")
    os.link(tmp_path / "a.txt", tmp_path / "hard.txt")
    shared = {"vocab_file": "model/vocab.txt"}
    prefix = "model/bert_model.ckpt"
    commands = [
        (
            "create_pretraining_data.py",
            shared | {"input_file": "*.txt", "output_file": "new,link.txt"},
        ),
        (
            "create_pretraining_data.py",
            shared | {"input_file": "a.txt", "output_file": "model/vocab.txt"},
        ),
        (
            "create_vocabulary.py",
            {"input_file": "a.txt", "output_file": "hard.txt"},
        ),
        (
            "extract_features.py",
            shared
            | {
                "input_file": "link.txt",
                "output_file": "a.txt",
                "bert_config_file": model,
                "init_checkpoint": prefix,
            },
        ),
        (
            "predict.py",
            {"model": model, "input_file": "a.txt", "output_file": "a.txt"},
        ),
        (
            "predict.py",
            {"model": model, "output_file": "model/vocab.txt"},
        ),
        (
            "convert_checkpoint.py",
            {"init_checkpoint": prefix, "output_dir": "model"},
        ),
        (
            "convert_checkpoint.py",
            {"init_checkpoint": model, "output_dir": f"{model}/../model"},
        ),
    ]
    before = contents(tmp_path)
    for done in script_runner.run_all(
        [(script, tmp_path, given) for script, given in commands]
    ):
        assert "are the same" in done.error or "is inside" in done.error
    assert contents(tmp_path) == before


def test_a_missing_input_is_named_by_its_flag(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "saved_model.pb").write_bytes(b"none")
    commands = [
        ("serve.py", {"model": "model", "token_file": "absent"}),
        ("predict.py", {"model": "model", "input_file": "absent"}),
        (
            "create_pretraining_data.py",
            {
                "input_file": script_runner.SAMPLES / "corpus.txt",
                "output_file": "new",
                "vocab_file": "absent",
            },
        ),
        (
            "create_squad_from_triviaqa.py",
            {
                "evidence_dir": "model",
                "output_file": "new",
                "input_file": "absent",
            },
        ),
    ]
    for done, (_, given) in zip(
        script_runner.run_all(
            [(script, tmp_path, given) for script, given in commands]
        ),
        commands,
        strict=True,
    ):
        assert done.error.startswith(f"error: --{[*given][-1]}=absent: ")
        assert done.error.endswith("No such file or directory")
    assert os.listdir(tmp_path) == ["model"]


def contents(folder):
    return {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize(
    "values, message",
    [
        ({"output_dir": ""}, "--output_dir= is empty"),
        ({"export_dir": "run/export"}, "an export needs a folder of its own"),
        ({"output_dir": "\n"}, "--output_dir= is empty"),
        ({"export_weights": "new\0"}, "holds '\\x00', a control character"),
        ({"export_version": 1}, "--export_version=1 needs --export_dir"),
        ({"export_version": 1, "export_dir": ""}, "--export_dir= is empty"),
        (
            {"export_version": 1, "export_dir": "run"},
            "--export_dir=run/1 is inside --output_dir=run",
        ),
    ],
)
def test_paths_are_checked_before_any_work(tmp_path, values, message):
    given = {
        "task_name": "none",
        "data_dir": "none",
        "vocab_file": "none",
        "bert_config_file": "none",
        "output_dir": "run",
    }
    flagfile = tmp_path / "flags"
    flagfile.write_text(
        "".join(
            f"--{name}={value}\n" for name, value in (given | values).items()
        )
    )
    done = script_runner.run("run_classifier.py", tmp_path, flagfile=flagfile)
    assert message in done.error
    assert os.listdir(tmp_path) == ["flags"]


def test_a_file_of_flags_that_is_not_utf8(tmp_path):
    (tmp_path / "flags").write_bytes(b"--vocab_size=\xff\n")
    done = script_runner.run(
        "create_vocabulary.py", tmp_path, flagfile=tmp_path / "flags"
    )
    assert "--flagfile: byte 13 is not UTF-8" in done.error
