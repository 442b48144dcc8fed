"""Reads the files of the model that the flags of a command name.

Call `check_required` of model_flags.py first. This module imports no
TensorFlow.
"""

import modeling
from data.text.tokenization import FullTokenizer
from data.text.tokenizer_loading import load_tokenizer
from execution.model_flags import ModelFlags
from model_folders.bert_config import BertConfig
from model_folders.reading.presets import Preset


def read_bert_config(model: ModelFlags, preset: Preset | None) -> BertConfig:
    """Reads the configuration in --bert_config_file.

    Args:
        model: the completed flags.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: the file is not the configuration of a BERT.
        OSError: the file cannot be read.
    """
    if preset:
        return preset.load_required_config(model.required_config_file)
    return modeling.load_config(model.required_config_file)


def read_tokenizer(
    model: ModelFlags,
    set_by_user: frozenset[str],
    bert_config: BertConfig,
    preset: Preset | None,
) -> FullTokenizer:
    """Reads --vocab_file, and finds out the casing of the model.

    Args:
        model: the completed flags.
        set_by_user: names of the flags that the user set.
        bert_config: configuration of the network.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: the vocabulary does not fit the network, or the casing
            contradicts a file.
        OSError: the vocabulary cannot be read.
    """
    return load_tokenizer(
        model.required_vocab_file,
        model.do_lower_case,
        is_set_by_user="do_lower_case" in set_by_user,
        vocab_size=bert_config.vocab_size,
        preset=preset,
        config_file=model.required_config_file,
    )
