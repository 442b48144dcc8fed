"""Reads the configuration and the vocabulary of a model.

Training and extract_features.py read them here, and first check that the flags
of these files are set. This module imports no
TensorFlow.
"""

from collections.abc import Sequence

import modeling
from data.text.casing import chosen_casing
from data.text.tokenization import FullTokenizer, load_tokenizer
from model_folders.bert_config import BertConfig
from model_folders.reading.config_files import load_config
from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from training.config.model_config import ModelConfig, ModelOptions

# Flags that --init_checkpoint makes unnecessary.
_FLAGS_STATED_BY_FOLDER = ("bert_config_file", "vocab_file")


def stated_flags_of(preset: Preset) -> dict[str, str | bool | None]:
    """Returns {flag: value} of the network and the tokenizer of a folder.

    With any other values, the model would compute something else. So every
    command that reads the weights uses these values for the flags that the user
    did not set. A value is None if no file contains it.
    """
    return {
        "left_to_right": preset.network_arguments["left_to_right"],
        "bert_config_file": preset.config_file,
        "vocab_file": preset.vocab_file,
        "do_lower_case": preset.do_lower_case,
    }


def check_required(
    config: ModelConfig,
    required_flags: Sequence[str],
    preset: Preset | None,
    *,
    run_preset: Preset | None = None,
) -> None:
    """Checks that flags are set, by the user or by the folder of the weights.

    Call this function before those that read the files of these flags.

    Args:
        config: the flags, as the user and the folder of the weights set them.
        required_flags: names of the flags that must be set.
        preset: Preset of the weights, None without weights.
        run_preset: Preset of the run in --output_dir, None for a new run. Its
            settings may name what to set.

    Raises:
        ValueError: a flag is not set. The message names all of them.
        OSError: a flag is not set, and the folder contains no weights.
    """
    values = config.option_values()
    missing = [name for name in required_flags if values[name] is None]
    if not missing:
        return
    if preset:
        # Fail here if the path does not exist or contains no weights, such as
        # the path of an export.
        modeling.check_checkpoint(preset)
    descriptions = []
    if not preset and "bert_config_file" in missing:
        descriptions.append(
            "--init_checkpoint (or --bert_config_file and --vocab_file, for "
            "random weights)"
        )
        missing = [
            name for name in missing if name not in _FLAGS_STATED_BY_FOLDER
        ]
    training_settings = TrainingSettings()
    if run_preset:
        training_settings = run_preset.training_settings
    descriptions += [
        config.describe_missing(name, training_settings) for name in missing
    ]
    raise ValueError(f"missing required flags: {', '.join(descriptions)}")


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
