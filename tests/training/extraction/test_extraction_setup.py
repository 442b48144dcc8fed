"""What extract_features.py checks before TensorFlow is loaded."""

import pytest

from model_folders.reading.preset import read_preset
from tests.support.models import write_config
from tests.support.paths import ROOT, SAMPLES
from training.extraction import extraction_setup
from training.extraction.extract_features_config import ExtractFeaturesConfig


def create_config(folder, **flags):
    """Returns the Config of a command that reads and writes in a folder."""
    return ExtractFeaturesConfig.from_values(
        input_file=str(folder / "in.txt"),
        output_file=str(folder / "out.jsonl"),
        init_checkpoint=str(folder),
        **flags,
    )


@pytest.mark.parametrize("layers", ["-3", "2", "-1,2", "first", ""])
def test_blocks_that_the_model_lacks_are_refused(layers):
    with pytest.raises(ValueError, match=f"--layers={layers} .*-2 to 1"):
        extraction_setup.parse_layers(layers, num_blocks=2)


def test_blocks_are_counted_from_either_end():
    layers = extraction_setup.parse_layers("-2,-1,0,1", num_blocks=2)
    assert layers == [-2, -1, 0, 1]


@pytest.fixture
def weights(tmp_path):
    """A folder that states a configuration, with an unread checkpoint."""
    write_config(tmp_path / "bert_config.json")
    (tmp_path / "bert_model.ckpt.index").write_text("")
    return tmp_path


def test_a_vocabulary_that_nobody_names_is_missing():
    folder = ROOT / "tests/testdata/huggingface/BertModel"
    config = create_config(folder, bert_config_file="bert_config.json")
    with pytest.raises(ValueError, match="required flags: --vocab_file"):
        extraction_setup.read_model_files(
            config, frozenset(), read_preset(folder)
        )


def test_inputs_longer_than_the_network_reads_are_refused(weights):
    config = create_config(
        weights,
        bert_config_file=str(weights / "bert_config.json"),
        vocab_file=str(SAMPLES / "vocab.txt"),
        max_seq_length=65,
    )
    with pytest.raises(ValueError, match="max_seq_length=65"):
        extraction_setup.read_model_files(
            config, frozenset(), read_preset(weights)
        )
