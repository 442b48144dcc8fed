"""Every flag of Google's code, under its name and with its default."""

import ast
import dataclasses
import json
import os
import re

import pytest
from absl import flags as absl_flags

from command_line import flags
from docs import flags_index
from options import path_flags
from options.fields import PathType, Role
from tests.support import fresh_process, script_runner
from tests.support.paths import ROOT
from tests.support.waiting import killed_late

# name=default of each flag; None is a flag without one.
DEVICE = "use_tpu=False master=None num_tpu_cores=8"
TPU = f"""
    {DEVICE} tpu_name=None tpu_zone=None gcp_project=None
    iterations_per_loop=1000 save_checkpoints_steps=1000
"""
FINE_TUNING = f"""
    {TPU} bert_config_file=None vocab_file=None output_dir=None
    init_checkpoint=None do_lower_case=True do_train=False do_predict=False
    train_batch_size=32 predict_batch_size=8 learning_rate=5e-05
    num_train_epochs=3.0 warmup_proportion=0.1
"""
ORIGINAL = {
    "create_pretraining_data": """
        input_file=None output_file=None vocab_file=None do_lower_case=True
        do_whole_word_mask=False max_seq_length=128 max_predictions_per_seq=20
        random_seed=12345 dupe_factor=10 masked_lm_prob=0.15 short_seq_prob=0.1
    """,
    "run_pretraining": f"""
        {TPU} bert_config_file=None input_file=None output_dir=None
        init_checkpoint=None max_seq_length=128 max_predictions_per_seq=20
        do_train=False do_eval=False train_batch_size=32 eval_batch_size=8
        learning_rate=5e-05 num_train_steps=100000 num_warmup_steps=10000
        max_eval_steps=100
    """,
    "run_classifier": f"""
        {FINE_TUNING} data_dir=None task_name=None max_seq_length=128
        do_eval=False eval_batch_size=8
    """,
    "run_squad": f"""
        {FINE_TUNING} train_file=None predict_file=None max_seq_length=384
        doc_stride=128 max_query_length=64 n_best_size=20 max_answer_length=30
        verbose_logging=False version_2_with_negative=False
        null_score_diff_threshold=0.0
    """,
    "extract_features": f"""
        {DEVICE} input_file=None output_file=None layers='-1,-2,-3,-4'
        bert_config_file=None max_seq_length=128 init_checkpoint=None
        vocab_file=None do_lower_case=True batch_size=32
        use_one_hot_embeddings=False
    """,
}


def flags_of(script, *roles):
    """Returns the flags of a script."""
    config = flags_index.find_config(script)
    return config.list_options(*roles)


@pytest.mark.parametrize("script", ORIGINAL)
def test_each_flag_of_googles_script_exists_with_its_default(script):
    names = {
        f"{flag.name}="
        f"{None if flag.default is dataclasses.MISSING else flag.default!r}"
        for flag in flags_of(script)
    }
    assert {*ORIGINAL[script].split()} <= names


@pytest.mark.parametrize("script", script_runner.SCRIPTS)
def test_every_flag_for_a_path_is_checked(script):
    path_name = re.compile(r".*_(file|dir|checkpoint)|export_weights")
    types = {flag.name: flag.path_type for flag in flags_of(script)}
    types_of_paths = {
        name: path_type
        for name, path_type in types.items()
        if path_type or path_name.fullmatch(name)
    }
    # The type of a flag that is not defined as a path is None.
    assert None not in types_of_paths.values(), types_of_paths
    outputs = {
        name
        for name, path_type in types_of_paths.items()
        if path_type in path_flags.OUTPUT_TYPES
    }
    named_as_outputs = {
        name
        for name in types_of_paths
        if name.startswith(("output", "export_"))
    }
    assert outputs == named_as_outputs < {*types_of_paths}


@pytest.mark.parametrize(
    "script",
    ["run_classifier", "run_ner", "run_pretraining", "run_squad", "run_swag"],
)
def test_every_flag_of_a_run_has_a_role(script):
    """The role decides what a changed flag means to a finished run."""
    with_role = {flag.name for flag in flags_of(script, *Role)}
    assert with_role == {flag.name for flag in flags_of(script)}


def run_fresh(commands):
    """Returns what each command prints, its status, its imports; and stderr."""
    program = "tests.support.fresh_commands"
    done = fresh_process.run("-m", program, json.dumps(commands))
    return done.stdout.split("\f")[:-1], done.stderr


@pytest.fixture(scope="module")
def printed():
    """{script: what it prints for --helpfull and for a wrong flag}."""
    flags = ("--helpfull", "--no_such_flag")
    scripts = script_runner.SCRIPTS
    commands = [[script, flag] for script in scripts for flag in flags]
    texts, _ = run_fresh(commands)
    pairs = zip(texts[::2], texts[1::2], strict=True)
    return dict(zip(scripts, pairs, strict=True))


def test_wrong_files_do_not_wait_for_tensorflow(tmp_path, random_start):
    for name, text in (("a.json", '{"data": 1}'), ("train.txt", "word\n")):
        (tmp_path / name).write_text(text)
    (tmp_path / "a.csv").write_text("text,label\n1,2,3\n")
    common = random_start | {"output_dir": tmp_path / "run", "do_train": True}
    cases = (
        ("run_squad", "train_file", "a.json"),
        ("run_ner", "data_dir", ""),
        ("run_classifier", "data_file", "a.csv"),
    )
    commands = [
        [script, *(f"--{k}={v}" for k, v in flags.items())]
        for script, name, path in cases
        for flags in [common | {name: tmp_path / path}]
    ]
    endings, errors = run_fresh(commands)
    assert endings == ["1 []"] * 3
    files = re.findall("error: .*(a.json|train.txt|a.csv)", errors)
    assert files == ["a.json", "train.txt", "a.csv"]


def test_the_short_help_names_what_must_be_set():
    texts, _ = run_fresh([["predict", "--help"], ["serve", "--help"]])
    assert all("--model: (required)" in text for text in texts)


@pytest.mark.parametrize("script", script_runner.SCRIPTS)
def test_help_and_wrong_flags_do_not_wait_for_tensorflow(script, printed):
    text, wrong = printed[script]
    assert wrong == "1 []"
    assert text.endswith("\n0 []")


@pytest.mark.parametrize("script", script_runner.SCRIPTS)
def test_help_lists_all_documented_flags(script, printed):
    name = script if "." in script else f"{script}.py"
    documented = flags_index.read_flags()[name].keys()
    text, _ = printed[script]
    listed = re.findall(r"^ +--(?:\[no\])?(\w+):", text, re.M)
    assert documented
    assert documented <= {*listed}


@pytest.mark.parametrize("script", script_runner.SCRIPTS)
def test_help_begins_with_the_docstring_and_the_path_of_the_script(
    script, printed
):
    text, _ = printed[script]
    path = ROOT / f"{script.replace('.', '/')}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert text.startswith(docstring.splitlines()[0])
    assert f"\n{path.relative_to(ROOT)}:\n" in text


@pytest.mark.parametrize("script", ["run_classifier.py", "run_squad.py"])
def test_help_is_short_and_in_groups(script):
    text = fresh_process.run(ROOT / script, "--help").check().stdout
    titles = re.findall(r"^(\w+):$", text, re.M)
    assert titles == ["data", "model", "training", "output"]
    names = re.findall(r"^ +--(?:\[no\])?(\w+):", text, re.M)
    assert 15 <= len({*names}) == len(names) <= 20
    assert {"init_checkpoint", "output_dir", "do_train"} <= {*names}


def test_help_stops_quietly_if_its_reader_closes_the_pipe():
    # As `run_classifier.py --help | head -1` does.
    process = fresh_process.start(ROOT / "run_classifier.py", "--help")
    with process, killed_late(process):
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


LISTS = {
    PathType.INPUT_FILES: "~/a,b/~c, ~/d-*",
    PathType.OUTPUT_FILES: "~/a,~/b",
    PathType.RUNS: "x=~/a, ~/b",
}
EXPANDED = {
    PathType.INPUT_FILES: ["/home/me/a", "b/~c", "/home/me/d-*"],
    PathType.OUTPUT_FILES: ["/home/me/a", "/home/me/b"],
    PathType.RUNS: ["/home/me/a", "/home/me/b"],
}


def parse_command(config, args, monkeypatch):
    """Returns the paths in the flags of a command, as absl parses them."""
    values = absl_flags.FlagValues()
    monkeypatch.setattr(absl_flags, "FLAGS", values)
    for flag in config.list_options():
        absl_flags.DEFINE(
            absl_flags.ArgumentParser(),
            flag.name,
            None,
            "",
            flag_values=values,
            module_name=flags.script_name(),
        )
        if flag.default is not dataclasses.MISSING:
            values[flag.name].value = flag.default
    values(["script", *args])
    return path_flags.list_path_flags(
        flags.create_parsed_command(config).config
    )


@pytest.mark.parametrize("script", script_runner.SCRIPTS)
def test_the_home_folder_is_found_in_every_path(script, monkeypatch):
    """A shell leaves the ~ of --output_dir=~/run."""
    monkeypatch.setenv("HOME", "/home/me")
    config = flags_index.find_config(script)
    args = [
        f"--{flag.name}={LISTS.get(flag.path_type, '~/a, b')}"
        for flag in config.list_options()
        if flag.path_type is not None
    ]
    given = parse_command(config, args, monkeypatch)
    assert len(given) == len(args)
    for flag in given:
        assert flag.paths == EXPANDED.get(flag.path_type, ["/home/me/a, b"]), (
            flag
        )


def test_only_a_tilde_at_the_beginning_becomes_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    path_type = PathType.MODEL
    for path in ("hf://a/~b", "./~/a", "a/~/b", "~nobody-here/a", "a,~/b"):
        assert path_flags.expand_home(path, path_type) == path
    assert path_flags.expand_home("~", path_type) == "/home/me"
    root = os.path.expanduser("~root")
    assert path_flags.expand_home("~root/a", path_type) == f"{root}/a"
