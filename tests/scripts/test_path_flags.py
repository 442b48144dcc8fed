"""Paths that scripts refuse before any work, as a user meets it."""

import os

from tests import script_runner
from tests.script_runner import check_refusals

SAME = "are the same"


def test_scripts_leave_an_input_that_is_also_the_output(tmp_path):
    (tmp_path / "model").mkdir()
    for name in ("a.txt", "model/vocab.txt", "model/bert_model.ckpt.index"):
        (tmp_path / name).write_text(name)
    os.symlink("a.txt", tmp_path / "link.txt")
    os.link(tmp_path / "a.txt", tmp_path / "hard.txt")
    text = {"vocab_file": "model/vocab.txt", "input_file": "a.txt"}
    model = {"bert_config_file": "model", "init_checkpoint": "model"}
    model |= {"output_file": "a.txt"}
    prefix = "--init_checkpoint=model/bert_model.ckpt"
    for script, flags, cases in (
        (
            "create_pretraining_data.py",
            text,
            [
                ("--input_file=*.txt --output_file=new,link.txt", SAME),
                ("--output_file=model/vocab.txt", SAME),
            ],
        ),
        (
            "tools.create_vocabulary",
            {"input_file": "a.txt"},
            [("--output_file=hard.txt", SAME)],
        ),
        (
            "extract_features.py",
            text | model,
            [("--input_file=link.txt", SAME)],
        ),
        (
            "predict.py",
            {"model": "model"},
            [
                ("--input_file=a.txt --output_file=a.txt", SAME),
                ("--output_file=model/vocab.txt", "is inside"),
            ],
        ),
        (
            "tools.convert_checkpoint",
            {"output_dir": "model"},
            [
                (prefix, "is inside"),
                ("--init_checkpoint=model/../model", SAME),
            ],
        ),
    ):
        check_refusals(tmp_path, script, flags, cases)


def test_a_missing_input_is_named_by_its_flag(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"none")
    model = {"model": tmp_path, "output_file": "new", "evidence_dir": tmp_path}
    model |= {"input_file": script_runner.SAMPLES / "corpus.txt"}
    for script, flag, names in (
        ("serve.py", "token_file", ["model"]),
        ("predict.py", "input_file", ["model"]),
        ("create_pretraining_data.py", "vocab_file", ["input_file"]),
        ("tools.create_squad_from_triviaqa", "input_file", ["evidence_dir"]),
    ):
        flags = {name: model[name] for name in names}
        if "create" in script:
            flags["output_file"] = "new"
        error = (f"error: --{flag}=absent: ", "No such file or directory")
        case = (f"--{flag}=absent", *error)
        check_refusals(tmp_path, script, flags, [case])


def test_paths_are_checked_before_any_work(tmp_path):
    names = ("task_name", "data_dir", "vocab_file", "bert_config_file")
    flags = dict.fromkeys(names, "none") | {"output_dir": "run"}
    cases = [
        ("--output_dir=", "--output_dir= is empty"),
        ("--export_dir=run/export", "an export needs a folder of its own"),
        ("--export_weights=new\x1b", "holds '\\x1b', a control character"),
        ("--export_version=1", "--export_version=1 needs --export_dir"),
        ("--export_version=1 --export_dir=", "--export_dir= is empty"),
        (
            "--export_version=1 --export_dir=run",
            "--export_dir=run/1 is inside --output_dir=run",
        ),
    ]
    check_refusals(tmp_path, "run_classifier.py", flags, cases)


def test_a_file_of_flags_that_is_not_utf8(tmp_path):
    (tmp_path / "flags").write_bytes(b"--vocab_size=\xff\n")
    case = (f"--flagfile={tmp_path}/flags", "--flagfile: byte 13 is not UTF-8")
    check_refusals(tmp_path, "tools.create_vocabulary", {}, [case])
