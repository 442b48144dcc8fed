"""Checks of a command, on the files that it names."""

import json

import pytest

from command_line.groups import ExportFlags
from data.text.tokenization import FullTokenizer
from model_folders import identity, model_json, presets
from tests.support.models import tiny_config
from tests.support.script_runner import SAMPLES
from tests.support.toy_task import (
    create_config,
    create_start,
    resolve_config,
)
from training.start import check_lengths, read_initial_preset
from training.teacher import load_teacher


@pytest.mark.parametrize("too_long", ["max_seq_length", "export_seq_length"])
def test_lengths_beyond_the_positions_are_refused(too_long):
    config = tiny_config()
    assert config.max_position_embeddings == 64
    names = ("max_seq_length", "export_seq_length")
    check_lengths(config, "config.json", **dict.fromkeys(names, 64))
    lengths = dict.fromkeys(names, 8) | {too_long: 65}
    with pytest.raises(ValueError, match=f"--{too_long}=65"):
        check_lengths(config, "config.json", **lengths)


INT8 = {"export_dir": "x", "quantize": "int8"}


def test_int8_is_litert_by_default():
    assert ExportFlags(**INT8).export_formats == ("litert",)


def test_int8_is_no_saved_model():
    with pytest.raises(ValueError, match="--export_format"):
        ExportFlags(**INT8, export_format="saved_model").check()


def test_int8_without_an_export_is_refused():
    with pytest.raises(ValueError, match="--quantize"):
        ExportFlags(quantize="int8").check()


@pytest.fixture
def left_to_right(tmp_path):
    """The folder of a run that was trained with --left_to_right."""
    folder = tmp_path / "trained"
    folder.mkdir()
    origin = {"settings": {"seed": 1, "left_to_right": True}}
    text = json.dumps({"version": 1, "origin": origin})
    (folder / model_json.FILE).write_text(text)
    (folder / "model.ckpt-3.index").write_text("")
    return folder


def check_network(folder, **changes):
    """Checks the network of a command against that of its weights."""
    config = create_config(folder, **changes)
    identity.check_identity(
        read_initial_preset(config),
        tiny_config(),
        None,
        config.network,
        config.training.do_train,
    )


@pytest.mark.parametrize("path", [".", "model.ckpt-3"])
def test_the_network_that_a_folder_states_is_read(left_to_right, path):
    network = presets.read_preset(left_to_right / path).network
    assert network == {"left_to_right": True, "bilstm": False}


def test_a_network_flag_that_is_not_given_is_that_of_the_weights(
    left_to_right, tmp_path
):
    config = resolve_config(
        tmp_path / "new", do_eval=True, init_checkpoint=str(left_to_right)
    )
    assert config.training.left_to_right


def test_a_run_of_another_network_is_not_evaluated(left_to_right):
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(left_to_right, do_eval=True)


def test_weights_of_another_network_are_not_evaluated(left_to_right, tmp_path):
    start = str(left_to_right)
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(tmp_path / "new", do_eval=True, init_checkpoint=start)


def test_weights_without_a_bilstm_are_not_evaluated_with_one(left_to_right):
    both = {"left_to_right": True, "bilstm": True}
    with pytest.raises(ValueError, match="bilstm=False"):
        check_network(left_to_right, do_eval=True, **both)


def test_a_training_keeps_the_network_and_may_add_a_bilstm(
    left_to_right, tmp_path
):
    flags = {"do_train": True, "init_checkpoint": str(left_to_right)}
    with pytest.raises(ValueError, match="left_to_right=True"):
        check_network(tmp_path / "new", **flags)
    flags |= {"left_to_right": True, "bilstm": True}
    check_network(tmp_path / "new", **flags)


def test_litert_has_no_lstm_of_any_length(tmp_path):
    command = create_config(
        tmp_path / "run",
        do_train=True,
        bilstm=True,
        export_dir=str(tmp_path / "x"),
        export_format="saved_model,litert",
    )
    with pytest.raises(ValueError, match="--export_format"):
        command.check(frozenset())


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ("vocab.txt", "--vocab_file"),
        ("tokenizer_config.json", "do_lower_case=False"),
        ("model.json", "output_mode=multilabel"),
    ],
)
def test_a_teacher_of_other_texts_or_outputs_is_refused(
    tmp_path, changed, name
):
    bert_config = tiny_config()
    teacher = tmp_path / "teacher"
    teacher.mkdir()
    text = (SAMPLES / "vocab.txt").read_text()
    (teacher / "bert_config.json").write_text(bert_config.to_json_string())
    (teacher / "vocab.txt").write_text(text)
    config = create_config(
        tmp_path / "new", teacher=str(teacher), do_train=True
    )
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    start = create_start(config, bert_config, tokenizer)
    origin = {"settings": {"output_mode": "multilabel"}}
    other = {
        "vocab.txt": text.replace("\nthe\n", "\nelse\n"),
        "tokenizer_config.json": '{"do_lower_case": false}',
        "model.json": json.dumps({"version": 1, "origin": origin}),
    }
    (teacher / changed).write_text(other[changed])
    with pytest.raises(
        ValueError, match=f"{name}.*--teacher|--teacher.*{name}"
    ):
        load_teacher(start, None, (), "regression")
