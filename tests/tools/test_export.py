"""Exports of folders that other programs wrote, by tools.export."""

import pytest

import modeling
from command_line.config_values import create_config
from command_line.flags import ParsedCommand
from data.text.tokenization import FullTokenizer
from files.json_files import read_json, write_json
from tests.support.models import built, tiny_config
from tests.support.script_runner import SAMPLES
from tests.support.weights.huggingface_files import HEAD, change_weights
from tools import export


def write_huggingface(folder, create, *arguments):
    """Writes a tiny model of random weights as transformers would."""
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    config = tiny_config(vocab_size=len(tokenizer.tokens))
    model = built(create(config, *arguments))
    modeling.save_huggingface(model, folder, tokenizer=tokenizer)
    return folder


def run_export(folder, **flags):
    target = f"{folder}_export"
    config = create_config(
        export.Config, model=str(folder), export_dir=target, **flags
    )
    export.main(ParsedCommand(config, flags))


def test_a_head_that_is_missing_is_refused(tmp_path):
    """The answers of a model without its head would be random."""
    classifier = write_huggingface(
        tmp_path / "model", modeling.BertTokenClassifier, 3
    )
    change_weights(classifier, {"score.weight": (3, 16)}, HEAD[:1])
    with pytest.raises(ValueError, match=r"output_weights.*score\.weight"):
        run_export(classifier)
    encoder = write_huggingface(tmp_path / "encoder", modeling.BertModel)
    with pytest.raises(ValueError, match="lacks cls/predictions/output_bias"):
        run_export(encoder, task="fill-mask")
    run_export(encoder)


def test_names_of_more_outputs_are_refused(tmp_path):
    """A SavedModel would answer with names of other outputs."""
    folder = write_huggingface(tmp_path / "model", modeling.BertClassifier, 2)
    names = {str(index): name for index, name in enumerate(["a", "b", "c"])}
    config = read_json(folder / "config.json") | {"id2label": names}
    write_json(folder / "config.json", config)
    with pytest.raises(ValueError, match="must name 2"):
        run_export(folder)


def test_weights_that_are_not_read_are_warned_of(tmp_path, caplog):
    folder = write_huggingface(tmp_path / "model", modeling.BertClassifier, 3)
    run_export(folder)
    assert "also contains" not in caplog.text
    change_weights(folder, {"pre_classifier.weight": (16, 16)})
    run_export(folder)
    assert "also contains pre_classifier.weight" in caplog.text


def test_a_head_of_an_own_class_is_refused_by_its_name(tmp_path):
    folder = write_huggingface(tmp_path / "model", modeling.BertClassifier, 2)
    write_json(
        folder / "model.json", {"version": 1, "task": {"name": "MyRanker"}}
    )
    with pytest.raises(ValueError, match=r"MyRanker.*--task=embed"):
        run_export(folder)
    run_export(folder, task="embed")
