"""Which models can be exported, and what this needs."""

import pytest

import modeling
from exporting.export_writer import export
from files.json_files import read_json
from model_folders.model_json import MODEL_JSON_FILE
from tests.support import fresh_process
from tests.support.models import tiny_config
from tests.support.serving.exports import LABELS, create_model, create_options


class MyClassifier(modeling.BertClassifier):
    """A user's own class, which may compute something else."""


def test_a_users_own_class_is_refused_by_its_name(tmp_path):
    model = create_model(MyClassifier, 3)
    with pytest.raises(ValueError, match=r"MyClassifier.*BertClassifier"):
        export(tmp_path / "export", model, {"labels": LABELS}, create_options())


def test_a_model_without_weights_is_refused(tmp_path):
    model = modeling.BertModel(tiny_config())
    with pytest.raises(ValueError, match="no weights"):
        export(tmp_path / "export", model, {}, create_options())


def test_labels_that_do_not_name_all_outputs_are_refused(tmp_path):
    model = create_model(modeling.BertClassifier, 2)
    with pytest.raises(ValueError, match="must name 2"):
        export(tmp_path / "export", model, {"labels": LABELS}, create_options())


def test_a_refused_export_leaves_no_file(tmp_path):
    model = create_model(MyClassifier, 3)
    with pytest.raises(ValueError, match="MyClassifier"):
        export(tmp_path / "export", model, {"labels": LABELS}, create_options())
    assert not [*tmp_path.iterdir()]


def test_an_embedder_is_exported_as_its_encoder(tmp_path):
    model = create_model(modeling.BertEmbedder)
    export(tmp_path / "export", model, {}, create_options("litert"))
    described = read_json(tmp_path / "export" / MODEL_JSON_FILE)
    assert described["task"]["name"] == "BertModel"


@pytest.mark.slow
def test_a_saved_model_needs_no_onnx():
    code = """
import sys
sys.modules["onnx"] = None
import exporting.export_writer
"""
    fresh_process.run("-c", code).check()
