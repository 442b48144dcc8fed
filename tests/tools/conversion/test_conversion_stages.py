"""Which model tools/convert_checkpoint.py writes, and in which format."""

import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.kinds import ModelClass
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from tests.support.models import built, tiny_config
from tests.support.paths import SAMPLES
from tools.conversion.conversion_stages import (
    choose_checkpoint_format,
    choose_class_to_convert,
    load_checkpoint_tokenizer,
    read_vocabulary_extension,
)
from tools.conversion.convert_checkpoint_config import ConvertCheckpointConfig


def create_config(**flags):
    """Returns the flags of a command that sets `flags`."""
    return ConvertCheckpointConfig(
        init_checkpoint="model", output_dir="converted", **flags
    )


@pytest.fixture
def checkpoints(tmp_path):
    """{format: a checkpoint of a pretrained model in this format}."""
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    config = tiny_config(vocab_size=len(tokenizer.tokens))
    model = built(modeling.BertPretrainer(config))
    modeling.save_release(model, tmp_path / "tf1", tokenizer=tokenizer)
    modeling.save_huggingface(
        model, tmp_path / "huggingface", tokenizer=tokenizer
    )
    return {
        name: modeling.find_checkpoint(tmp_path / name)
        for name in ("tf1", "huggingface")
    }


@pytest.mark.parametrize(
    ("given", "flags", "written"),
    [
        ("tf1", {}, "huggingface"),
        ("huggingface", {}, "tf1"),
        ("tf1", {"extended_vocab_file": "more.txt"}, "tf1"),
        ("huggingface", {"extended_vocab_file": "more.txt"}, "huggingface"),
        ("tf1", {"output_format": "kerashub"}, "kerashub"),
    ],
)
def test_the_flags_and_the_format_read_choose_the_format_written(
    given, flags, written, checkpoints
):
    chosen = choose_checkpoint_format(
        create_config(**flags),
        checkpoints[given],
        Preset(""),
        ModelClass.PRETRAINER,
    )
    assert chosen == written


def test_the_names_of_the_weights_tell_the_class_of_a_pretrained_model(
    checkpoints,
):
    found = choose_class_to_convert(
        create_config(), checkpoints["tf1"], Preset("")
    )
    assert found == ModelClass.PRETRAINER


def test_the_folder_and_then_the_flag_decide_the_class():
    preset = Preset("", model_class=ModelClass.SPAN_LABELER)
    found = choose_class_to_convert(create_config(), "absent", preset)
    assert found == ModelClass.SPAN_LABELER
    config = create_config(model="classifier")
    found = choose_class_to_convert(config, "absent", preset)
    assert found == ModelClass.CLASSIFIER


def test_transformers_lacks_an_lstm_which_only_a_head_needs():
    preset = Preset(
        "", training_settings=TrainingSettings(inputs={"bilstm": True})
    )
    config = create_config(output_format="huggingface")
    with pytest.raises(ValueError, match="--bilstm"):
        choose_checkpoint_format(config, "model", preset, ModelClass.CLASSIFIER)
    chosen = choose_checkpoint_format(
        config, "model", preset, ModelClass.ENCODER
    )
    assert chosen == "huggingface"
    config = create_config(output_format="tf1")
    assert (
        choose_checkpoint_format(config, "model", preset, ModelClass.CLASSIFIER)
        == "tf1"
    )


def test_a_folder_without_a_vocabulary_asks_for_one():
    with pytest.raises(ValueError, match="--vocab_file"):
        load_checkpoint_tokenizer(
            create_config(), tiny_config(), Preset("folder")
        )


def test_a_new_word_is_the_mean_of_its_old_wordpieces(tmp_path):
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    word = tokenizer.tokens[-1].removeprefix("##")
    path = tmp_path / "vocab.txt"
    new_word = "zyzzyva" + word
    words = [*tokenizer.tokens, new_word]
    path.write_text("".join(f"{word}\n" for word in words))
    extension = read_vocabulary_extension(str(path), tokenizer)
    assert extension.tokenizer.tokens[-1] == new_word
    pieces = tokenizer.tokenize(new_word)
    ids = tokenizer.convert_tokens_to_ids(pieces)
    assert extension.averaged_ids[-1] == ids
    assert extension.averaged_ids[5] == [5]
