"""Reads what extract_features.py must know before TensorFlow is loaded."""

from data.text.tokenization import FullTokenizer
from model_folders.bert_config import BertConfig
from model_folders.reading.preset import Preset
from model_folders.reading.settings_check import check_lengths
from training.extraction.extract_features_config import ExtractFeaturesConfig
from training.preparation.model_files import (
    check_required,
    read_bert_config,
    read_tokenizer,
)


def read_model_files(
    config: ExtractFeaturesConfig,
    set_by_user: frozenset[str],
    preset: Preset,
) -> tuple[BertConfig, FullTokenizer]:
    """Reads the configuration and the vocabulary.

    Args:
        config: the flags. The files in the folder of the weights set those that
            the user left out.
        set_by_user: names of the flags that the user set.
        preset: Preset of the weights.
    """
    required_flags = ("bert_config_file", "vocab_file")
    check_required(config, required_flags, preset)
    bert_config = read_bert_config(config.model, preset)
    check_lengths(
        bert_config,
        config.model.required_config_file,
        max_seq_length=config.max_seq_length,
    )
    tokenizer = read_tokenizer(config.model, set_by_user, bert_config, preset)
    return bert_config, tokenizer


def parse_layers(value: str, num_blocks: int) -> list[int]:
    """Returns the numbers in --layers: the first block is 0, the last is -1.

    Raises:
        ValueError: the value is not a list of the model's blocks.
    """
    try:
        layers = [int(layer) for layer in value.split(",")]
    except ValueError:
        layers = []
    if not layers or not all(
        -num_blocks <= layer < num_blocks for layer in layers
    ):
        raise ValueError(
            f"--layers={value} must be numbers from -{num_blocks} to "
            f"{num_blocks - 1}, because the model has {num_blocks} blocks"
        )
    return layers
