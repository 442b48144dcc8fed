"""Which models can be exported, and a model of which only ids are read."""

import re

import numpy as np
import pytest
from scipy import special

import modeling
import serving
from files.json_files import read_json
from model_folders.kinds import KIND_OF_CLASS
from model_folders.model_json import MODEL_JSON_FILE
from serving import engines
from serving.exporting.export import export
from tests.support.models import tiny_config
from tests.support.serving.exports import LABELS, create_model, create_options


class MyClassifier(modeling.BertClassifier):
    """A user's own class, which may compute something else."""


def test_a_users_own_class_is_refused_by_its_name(tmp_path):
    model = create_model(MyClassifier, 3)
    with pytest.raises(ValueError, match=r"MyClassifier.*BertClassifier"):
        export(tmp_path / "export", model, {"labels": LABELS}, create_options())


def test_each_class_that_answers_texts_can_be_exported(tmp_path):
    """Else a new class lacks its entry in the table of signatures."""
    model = create_model(MyClassifier, 3)
    with pytest.raises(ValueError, match="the classes that can are") as caught:
        export(tmp_path / "export", model, {"labels": LABELS}, create_options())
    exported = re.findall(r"\w+", str(caught.value).partition(" are ")[2])
    answering = {
        name for name, kind in KIND_OF_CLASS.items() if kind.text_tasks
    }
    assert answering <= {*exported}


def test_a_model_without_weights_is_refused(tmp_path):
    model = modeling.BertModel(tiny_config())
    with pytest.raises(ValueError, match="no weights"):
        export(tmp_path / "export", model, {}, create_options())


def test_labels_that_do_not_name_all_outputs_are_refused(tmp_path):
    model = create_model(modeling.BertClassifier, 2)
    with pytest.raises(ValueError, match="must name 2"):
        export(tmp_path / "export", model, {"labels": LABELS}, create_options())


def test_nothing_is_left_of_an_export_that_is_refused(tmp_path):
    model = create_model(MyClassifier, 3)
    with pytest.raises(ValueError, match="MyClassifier"):
        export(tmp_path / "export", model, {"labels": LABELS}, create_options())
    assert not [*tmp_path.iterdir()]


def test_an_embedder_is_exported_as_its_encoder(tmp_path):
    model = create_model(modeling.BertEmbedder)
    export(tmp_path / "export", model, {}, create_options("litert"))
    described = read_json(tmp_path / "export" / MODEL_JSON_FILE)
    assert described["task"]["name"] == "BertModel"


@pytest.fixture(scope="module")
def choice_model():
    """A tiny multiple-choice model."""
    return create_model(modeling.BertMultipleChoice)


@pytest.fixture(scope="module")
def choice_folder(choice_model, tmp_path_factory):
    """The folder of its export."""
    folder = tmp_path_factory.mktemp("choices") / "export"
    export(folder, choice_model, {}, create_options())
    return folder


def test_the_probabilities_of_choices_are_their_softmax(
    choice_model, choice_folder
):
    ids = np.random.default_rng(0).integers(1, 50, (2, 4, 6)).astype("int32")
    features = {
        "input_ids": ids,
        "input_mask": np.ones_like(ids),
        "segment_ids": np.zeros_like(ids),
    }
    outputs = engines.load_engine(choice_folder, "saved_model").run(features)
    np.testing.assert_allclose(
        outputs["probabilities"],
        special.softmax(choice_model(features), -1),
        rtol=0,
        atol=1e-6,
    )


def test_an_export_of_a_multiple_choice_model_accepts_no_text(choice_folder):
    assert serving.load(choice_folder).tasks == []
