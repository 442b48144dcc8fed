"""Exports of folders that other programs or a run wrote, by tools.export."""

import numpy as np
import pytest

import modeling
from data.text.tokenization import FullTokenizer
from files.json_files import read_json, write_json
from options.parsed_command import ParsedCommand
from tests.support import script_runner
from tests.support.checkpoints import call_signature
from tests.support.log_lines import logged_warnings
from tests.support.models import built, tiny_config
from tests.support.paths import SAMPLES
from tests.support.weights.huggingface_files import HEAD, change_weights
from tools import export
from tools.exporting.export_config import ExportConfig


def write_huggingface(folder, create, *arguments):
    """Writes a tiny model of random weights as transformers would."""
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    config = tiny_config(vocab_size=len(tokenizer.tokens))
    model = built(create(config, *arguments))
    modeling.save_huggingface(model, folder, tokenizer=tokenizer)
    return folder


def run_export(folder, **flags):
    """Exports a folder of weights. Returns the folder of the export."""
    export_dir = folder.with_name(f"{folder.name}_export")
    config = ExportConfig.from_values(
        model=str(folder), export_dir=str(export_dir), **flags
    )
    export.main(ParsedCommand(config, flags))
    return export_dir


@pytest.fixture
def encoder(tmp_path):
    """A folder with an encoder without a head."""
    return write_huggingface(tmp_path / "encoder", modeling.BertModel)


@pytest.fixture
def classifier(tmp_path):
    """A folder with a classifier of two labels."""
    return write_huggingface(tmp_path / "model", modeling.BertClassifier, 2)


def test_a_head_that_is_missing_is_refused(tmp_path):
    """The answers of a model without its head would be random."""
    folder = write_huggingface(
        tmp_path / "model", modeling.BertTokenClassifier, 3
    )
    change_weights(folder, {"score.weight": (3, 16)}, HEAD[:1])
    with pytest.raises(ValueError, match=r"output_weights.*score\.weight"):
        run_export(folder)


def test_heads_of_pretraining_that_are_missing_are_refused(encoder):
    with pytest.raises(ValueError, match="lacks cls/predictions/output_bias"):
        run_export(encoder, task="fill-mask")


def test_an_encoder_is_exported_without_a_head(encoder):
    assert (run_export(encoder) / "saved_model.pb").exists()


def test_names_of_more_outputs_are_refused(classifier):
    """A SavedModel would answer with names of other outputs."""
    names = {str(index): name for index, name in enumerate(["a", "b", "c"])}
    config = read_json(classifier / "config.json") | {"id2label": names}
    write_json(classifier / "config.json", config)
    with pytest.raises(ValueError, match="must name 2"):
        run_export(classifier)


def test_weights_that_are_all_read_are_not_warned_of(classifier, caplog):
    run_export(classifier)
    assert not logged_warnings(caplog)


def test_weights_that_are_not_read_are_warned_of(classifier, caplog):
    change_weights(classifier, {"pre_classifier.weight": (16, 16)})
    run_export(classifier)
    assert "pre_classifier.weight" in caplog.text


@pytest.fixture
def own_class(classifier):
    """A folder whose model.json names a class of a user."""
    write_json(
        classifier / "model.json", {"version": 1, "task": {"name": "MyRanker"}}
    )
    return classifier


def test_a_head_of_an_own_class_is_refused_by_its_name(own_class):
    with pytest.raises(ValueError, match=r"MyRanker.*--task=embed"):
        run_export(own_class)


def test_the_encoder_of_an_own_class_is_exported(own_class):
    folder = run_export(own_class, task="embed")
    described = read_json(folder / "assets.extra/model.json")
    assert described["task"]["name"] == "BertModel"


@pytest.fixture(scope="module")
def exported_again(classified, tmp_path_factory):
    """FinishedRun of tools.export, which exports the folder of the run."""
    folder = tmp_path_factory.mktemp("exported_again")
    flags = {"model": classified.folder / "run", "export_dir": folder / "again"}
    done = script_runner.run("tools.export", folder, **flags).check()
    return script_runner.FinishedRun(folder, flags, done)


@pytest.fixture
def both_exports(classified, exported_again):
    """The export that the run wrote, and the one of its folder."""
    return classified.folder / "export", exported_again.folder / "again"


def test_a_folder_is_exported_without_data(exported_again):
    export = exported_again.folder / "again"
    written = f"Wrote the export to {export}. Nothing was scored"
    assert written in exported_again.done.stderr


@pytest.mark.parametrize("name", ["labels.txt", "tokenizer_config.json"])
def test_an_export_of_a_folder_has_the_files_of_its_run(name, both_exports):
    one, other = (
        (export / "assets.extra" / name).read_text() for export in both_exports
    )
    assert one == other


def test_an_export_of_a_folder_is_described_as_that_of_its_run(both_exports):
    one, other = (
        read_json(export / "assets.extra/model.json") for export in both_exports
    )
    # TensorFlow names functions by number, so that the graphs differ.
    assert one.pop("checksums").keys() == other.pop("checksums").keys()
    assert one == other


def test_an_export_of_a_folder_answers_as_that_of_its_run(both_exports):
    texts = {"text_a": ["the boat"], "text_b": ["a boat of Marré"]}
    one, other = (
        call_signature(export, texts, "classify") for export in both_exports
    )
    np.testing.assert_equal(one, other)
