"""Networks of other exports in a folder, which would answer wrong."""

import json
import shutil

import pytest

import exporting
import modeling
import serving
from exporting import export_formats
from tests.support.serving.engines import ENGINES
from tests.support.serving.exports import (
    LABELS,
    TEXTS,
    create_model,
    create_options,
    export_model,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def classifier_and_tagger(tmp_path_factory):
    """(format) -> folders of a classifier and of a tagger."""
    folder = tmp_path_factory.mktemp("both")

    def export_both(name):
        kinds = "classifier", "ner"
        for kind in kinds:
            if not (folder / name / kind).exists():
                export_model(kind, folder / name / kind, create_options(name))
        return [folder / name / kind for kind in kinds]

    return export_both


def copy_network(source, target, name):
    """Copies the files of a format from an export to another."""
    files = [export_formats.FILE_OF_FORMAT[name]]
    if name == "saved_model":
        variables = source.glob("variables/*")
        files += [f"variables/{path.name}" for path in variables]
    for file in files:
        (target / file).parent.mkdir(exist_ok=True)
        shutil.copy(source / file, target / file)


def described_in(folder):
    (file,) = folder.rglob("model.json")
    return file


@pytest.mark.parametrize("name", ENGINES)
def test_a_network_of_another_head_is_an_error(
    name, classifier_and_tagger, tmp_path
):
    classifier, tagger = classifier_and_tagger(name)
    shutil.copytree(classifier, tmp_path / "model")
    assert serving.load(tmp_path / "model").classify(TEXTS[0])
    copy_network(tagger, tmp_path / "model", name)
    with pytest.raises(
        OSError, match=export_formats.FILE_OF_FORMAT[name]
    ) as error:
        serving.load(tmp_path / "model")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ENGINES)
def test_other_weights_of_the_same_head_are_an_error(
    name, classifier_and_tagger, tmp_path
):
    classifier, _ = classifier_and_tagger(name)
    folder, other = tmp_path / "model", tmp_path / "other"
    shutil.copytree(classifier, folder)
    model = create_model(modeling.BertClassifier, len(LABELS))
    model.set_weights([weight + 1 for weight in model.get_weights()])
    exporting.export(other, model, {"labels": LABELS}, create_options(name))
    assert serving.load(other).classify(TEXTS[0])
    copy_network(other, folder, name)
    # The graph is the same, so the message may name the file of the weights.
    match = rf"variables|{export_formats.FILE_OF_FORMAT[name]}"
    with pytest.raises(OSError, match=match):
        serving.load(folder)


def test_a_network_that_was_not_exported_is_an_error(
    classifier_and_tagger, tmp_path
):
    classifier, _ = classifier_and_tagger("litert")
    other = pytest.importorskip("onnx") and classifier_and_tagger("onnx")[1]
    shutil.copytree(classifier, tmp_path / "model")
    copy_network(other, tmp_path / "model", "onnx")
    assert serving.load(tmp_path / "model", engine="litert")
    with pytest.raises(OSError, match=r"model\.onnx"):
        serving.load(tmp_path / "model", engine="onnx")


@pytest.mark.parametrize("name", ENGINES)
def test_an_export_of_an_earlier_version_loads(
    name, classifier_and_tagger, tmp_path
):
    classifier, _ = classifier_and_tagger(name)
    folder = tmp_path / "model"
    shutil.copytree(classifier, folder)
    content = json.loads(described_in(folder).read_text())
    assert content.pop("checksums")
    described_in(folder).write_text(json.dumps(content))
    assert serving.load(folder).classify(TEXTS[0])
