"""Which files an export contains, and where."""

import tensorflow as tf

import modeling
from exporting.export_writer import write_export
from exporting.signatures import ExportSignatures
from tests.support.serving.exports import LENGTH, create_model, create_options

DESCRIPTIONS = {"bert_config.json", "model.json", "vocab.txt"}
SETTINGS = {"max_seq_length": LENGTH}


def write_encoder_export(folder, format, settings):
    """Writes the export of an encoder, and returns its card."""
    model = create_model(modeling.BertModel)

    def predict(features):
        outputs = model(features, training=False)
        return {"pooled": tf.cast(outputs["pooled_output"], tf.float32)}

    signatures = ExportSignatures(predict, head_settings=settings)
    return write_export(folder, model, signatures, create_options(format))


def names_in(folder):
    """Returns the names of the files and folders in a folder."""
    return {path.name for path in folder.iterdir()}


def test_the_files_of_a_saved_model_are_in_its_extra_assets(tmp_path):
    """Servers of SavedModels expect no other files beside them."""
    write_encoder_export(tmp_path / "export", "saved_model", SETTINGS)
    assert names_in(tmp_path / "export") >= {"saved_model.pb", "README.md"}
    assert not DESCRIPTIONS & names_in(tmp_path / "export")
    assert names_in(tmp_path / "export/assets.extra") >= DESCRIPTIONS


def test_the_files_of_other_formats_are_beside_the_network(tmp_path):
    write_encoder_export(tmp_path / "export", "litert", SETTINGS)
    assert names_in(tmp_path / "export") >= {"model.tflite", *DESCRIPTIONS}


def test_the_card_lists_all_other_files(tmp_path):
    card = write_encoder_export(tmp_path / "export", "litert", SETTINGS)
    assert {*card.files} == names_in(tmp_path / "export") - {"README.md"}
    assert all(card.files.values())


def test_an_export_without_settings_has_no_card(tmp_path):
    assert write_encoder_export(tmp_path / "export", "litert", {}) is None
    assert "README.md" not in names_in(tmp_path / "export")
