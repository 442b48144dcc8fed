"""Reads the configuration and the vocabulary of a model.

Training and extract_features.py read them here. This module imports no
TensorFlow.
"""

from data.text.casing import chosen_casing
from data.text.tokenization import FullTokenizer, load_tokenizer
from model_folders.bert_config import BertConfig
from model_folders.reading.config_files import load_config
from model_folders.reading.preset import Preset
from training.config.model_config import ModelOptions


def stated_flags_of(preset: Preset) -> dict[str, str | bool | None]:
    """Returns {flag: value} of the network and the tokenizer of a folder.

    With any other values, the model would compute something else. So every
    command that reads the weights uses these values for the flags that the user
    did not set. A value is None if no file states it.
    """
    return {
        "left_to_right": preset.network_arguments["left_to_right"],
        "bert_config_file": preset.config_file,
        "vocab_file": preset.vocab_file,
        "do_lower_case": preset.do_lower_case,
    }


def read_bert_config(
    model_options: ModelOptions, preset: Preset | None
) -> BertConfig:
    """Reads the configuration in --bert_config_file.

    `preset` is None without weights.
    """
    if preset:
        return preset.load_required_config(model_options.required_config_file)
    return load_config(model_options.required_config_file)


def read_tokenizer(
    model_options: ModelOptions,
    set_by_user: frozenset[str],
    bert_config: BertConfig,
    preset: Preset | None,
) -> FullTokenizer:
    """Reads --vocab_file, and finds out the casing of the model.

    Args:
        model_options: names the file, and the casing if a flag or a folder
            states it.
        set_by_user: names of the flags that the user set.
        bert_config: configuration of the network.
        preset: Preset of the weights, None without weights.
    """
    casing = chosen_casing(
        model_options.do_lower_case,
        is_set_by_user="do_lower_case" in set_by_user,
    )
    return load_tokenizer(
        model_options.required_vocab_file,
        casing,
        vocab_size=bert_config.vocab_size,
        preset=preset,
        config_file=model_options.required_config_file,
    )
