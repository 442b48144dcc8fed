"""What the JSON files of a preset of KerasHub state."""

import json

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.kinds import ModelClass
from model_folders.reading.input_length import read_max_seq_length
from model_folders.reading.preset import read_preset
from tests.support.weights.kerashub_presets import change_json, copy_recorded


@pytest.fixture
def classifier(tmp_path):
    """A copy of the recorded preset of a classifier."""
    return copy_recorded(tmp_path / "preset")


def test_a_preset_states_the_network(classifier):
    assert read_preset(classifier).load_config() == modeling.BertConfig(
        vocab_size=1600,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_act="gelu",
        max_position_embeddings=48,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
    )


def test_a_preset_states_the_head(classifier):
    assert read_preset(classifier).model_class == ModelClass.CLASSIFIER


def test_a_preset_states_the_vocabulary(classifier):
    vocab_file = classifier / "assets/tokenizer/vocabulary.txt"
    assert read_preset(classifier).vocab_file == str(vocab_file)
    tokenizer = FullTokenizer.from_preset(classifier)
    assert tokenizer.vocabulary.contents == vocab_file.read_bytes()


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_preset_states_the_casing(classifier, lowercase):
    change_json(classifier / "tokenizer.json", lowercase=lowercase)
    assert read_preset(classifier).do_lower_case is lowercase
    tokenizer = FullTokenizer.from_preset(classifier)
    assert tokenizer.do_lower_case is lowercase


def test_a_preset_states_the_length_of_the_inputs(classifier):
    settings = read_preset(classifier).head_settings
    assert settings == {"max_seq_length": 16}


def test_another_length_of_the_inputs_is_the_limit(classifier):
    change_json(classifier / "preprocessor.json", sequence_length=7)
    preset = read_preset(classifier)
    assert preset.head_settings == {"max_seq_length": 7}
    assert read_max_seq_length(preset, ModelClass.CLASSIFIER, 48) == 7


def test_the_length_of_the_inputs_is_at_most_that_of_the_network(classifier):
    # KerasHub's default.
    change_json(classifier / "preprocessor.json", sequence_length=512)
    settings = read_preset(classifier).head_settings
    assert settings == {"max_seq_length": 48}


def test_inputs_without_a_length_have_that_of_the_network(classifier):
    file = classifier / "preprocessor.json"
    values = json.loads(file.read_text())
    del values["config"]["sequence_length"]
    file.write_text(json.dumps(values))
    settings = read_preset(classifier).head_settings
    assert settings == {"max_seq_length": 48}


def test_a_preset_without_a_preprocessor_states_no_length(classifier):
    (classifier / "preprocessor.json").unlink()
    assert not read_preset(classifier).head_settings


def test_a_preset_that_keeps_accents_is_warned_of(classifier, caplog):
    read_preset(classifier)
    assert "keeps the accents" in caplog.text
    caplog.clear()
    # It is said once, so the second preset has another path.
    folder = classifier.rename(classifier.with_name("other"))
    change_json(folder / "tokenizer.json", strip_accents=True)
    read_preset(folder)
    assert not caplog.text


def test_an_embedder_states_how_it_pools(classifier):
    change_json(
        classifier / "task.json",
        class_name="BertTextEmbedder",
        registered_name="keras_hub>BertTextEmbedder",
        pooling_mode="cls",
    )
    preset = read_preset(classifier)
    assert (preset.model_class, preset.pooling) == (
        ModelClass.ENCODER,
        "pooling by cls",
    )
    modeling.BertModel.from_preset(classifier)


def test_the_vocabulary_is_not_in_tokenizer_json(classifier):
    (classifier / "assets/tokenizer/vocabulary.txt").unlink()
    with pytest.raises(ValueError, match=r"no vocabulary. .*assets/tokenizer"):
        FullTokenizer.from_preset(classifier)
