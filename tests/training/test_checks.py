"""Checks of a command, on the files that it names."""

import json

import pytest

from command_line.groups import ExportFlags
from data.text.tokenization import FullTokenizer
from modeling.folders import identity, model_json, presets
from tests.support.models import tiny_config
from tests.support.script_runner import SAMPLES
from tests.support.toy_task import (
    create_config,
    create_start,
    resolve_config,
)
from training.distillation import load_teacher
from training.start import check_lengths, read_preset


def test_lengths_beyond_the_positions_are_refused():
    config = tiny_config()
    assert config.max_position_embeddings == 64
    names = ("max_seq_length", "export_seq_length")
    check_lengths(config, "config.json", **dict.fromkeys(names, 64))
    for given, name in (((65, 8), "max"), ((8, 65), "export")):
        lengths = dict(zip(names, given, strict=True))
        with pytest.raises(ValueError, match=f"--{name}_seq_length=65"):
            check_lengths(config, "config.json", **lengths)


def test_int8_is_litert_by_default():
    options = {"export_dir": "x", "quantize": "int8"}
    assert ExportFlags(**options).export_formats == ("litert",)
    with pytest.raises(ValueError, match="--export_format"):
        ExportFlags(**options, export_format="saved_model").check()
    with pytest.raises(ValueError, match="--quantize"):
        ExportFlags(quantize="int8").check()


def test_weights_of_another_network_are_refused(tmp_path):
    folder = tmp_path / "trained"
    folder.mkdir()
    origin = {"settings": {"seed": 1, "left_to_right": True}}
    text = json.dumps({"version": 1, "origin": origin})
    (folder / model_json.FILE).write_text(text)
    (folder / "model.ckpt-3.index").write_text("")
    for path in (folder, folder / "model.ckpt-3"):
        network = presets.read(path).network
        assert network == {"left_to_right": True, "bilstm": False}
    new = tmp_path / "new"
    start = {"init_checkpoint": str(folder)}
    # A flag that is not given is taken from the folder.
    assert resolve_config(new, do_eval=True, **start).training.left_to_right

    def check(folder, **changes):
        config = create_config(folder, **changes)
        identity.check(
            read_preset(config),
            tiny_config(),
            None,
            config.network,
            config.training.do_train,
        )

    for place, changes in ((folder, {}), (new, start)):
        with pytest.raises(ValueError, match="left_to_right=True"):
            check(place, do_eval=True, **changes)
    # A training adds a BiLSTM to what it starts from, and keeps the network.
    with pytest.raises(ValueError, match="left_to_right=True"):
        check(new, do_train=True, **start)
    both = {"left_to_right": True, "bilstm": True}
    check(new, do_train=True, **start, **both)
    with pytest.raises(ValueError, match="bilstm=False"):
        check(folder, do_eval=True, **both)


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
