"""Which model tools/export.py exports, and with which options."""

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.kinds import ModelClass
from model_folders.reading.preset import Preset
from tests.support.models import tiny_config
from tests.support.paths import SAMPLES
from tools.exporting.export_config import ExportConfig
from tools.exporting.export_stages import (
    choose_class_to_export,
    create_options,
    settings_of_head,
)


def create_export_config(**flags):
    """Returns the Config of a command that sets `flags`."""
    return ExportConfig.from_values(
        model="folder", export_dir="export", **flags
    )


@pytest.mark.parametrize(
    ("model_class", "exported"),
    [
        (ModelClass.SPAN_LABELER, ModelClass.SPAN_LABELER),
        # An embedder has no head of its own.
        (ModelClass.EMBEDDER, ModelClass.ENCODER),
    ],
)
def test_the_class_to_export_is_that_of_the_folder(model_class, exported):
    preset = Preset("folder", model_class=model_class)
    assert choose_class_to_export(create_export_config(), preset) == exported


def test_the_task_embed_exports_a_model_without_its_head():
    preset = Preset("folder", model_class=ModelClass.SPAN_LABELER)
    config = create_export_config(task="embed")
    assert choose_class_to_export(config, preset) == ModelClass.ENCODER


def test_a_class_of_a_user_is_named():
    preset = Preset("folder", model_class="MyRanker")
    with pytest.raises(ValueError, match=r"MyRanker.*--task=embed"):
        choose_class_to_export(create_export_config(), preset)


@pytest.mark.parametrize(
    ("flags", "length"), [({}, 64), ({"max_seq_length": 8}, 8)]
)
def test_the_length_is_that_of_the_network_unless_a_flag_sets_it(flags, length):
    options = create_options(
        create_export_config(**flags),
        Preset("folder"),
        modeling.BertModel(tiny_config(max_position_embeddings=64)),
        FullTokenizer(SAMPLES / "vocab.txt"),
    )
    assert options.max_seq_length == length


def test_answers_are_decoded_with_the_padding_of_the_training():
    preset = Preset("folder", trim_padding=False)
    head_settings = settings_of_head(preset, ModelClass.SPAN_LABELER)
    assert head_settings["trim_padding"] is False
    assert "trim_padding" not in settings_of_head(preset, ModelClass.CLASSIFIER)
