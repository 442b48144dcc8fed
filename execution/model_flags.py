"""The flags of the model that a command loads, and of its text.

Training scripts and extract_features.py share them. This module imports no
TensorFlow.
"""

import dataclasses
from collections.abc import Mapping

import modeling
from command_line import config_values, flags
from command_line.path_flags import PathKind
from model_folders.reading.presets import Preset


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """Flags of the model that a script loads, and of its text."""

    bert_config_file: str | None = flags.identity_flag(
        None,
        "JSON file of the model's architecture, from Google or Hugging Face "
        "(config.json). The default is the file in the folder of the weights.",
        kind=PathKind.MODEL,
    )
    vocab_file: str | None = flags.identity_flag(
        None,
        "Vocabulary that the model was trained with. The default is the file "
        "in the folder of the weights.",
        kind=PathKind.MODEL,
    )
    do_lower_case: bool = flags.identity_flag(
        True,
        "Lower-case the text: True for uncased models, False for cased models. "
        "By default, tokenizer_config.json beside the model or the vocabulary "
        "decides.",
    )
    init_checkpoint: str | None = flags.training_flag(
        None,
        "Checkpoint to start from: a folder with weights of Google, TF-Hub, "
        "KerasHub, transformers or this project, the prefix of a checkpoint "
        "(bert_model.ckpt), a .safetensors or .h5 file, a pytorch_model.bin, "
        "or hf://OWNER/NAME[@REVISION] to download a model of the Hugging Face "
        "hub. Its folder also states the configuration, the vocabulary and the "
        "casing.",
        kind=PathKind.MODEL,
    )

    @property
    def required_config_file(self) -> str:
        """Value of --bert_config_file. The flag must be set."""
        return config_values.required_value(self.bert_config_file)

    @property
    def required_vocab_file(self) -> str:
        """Value of --vocab_file. The flag must be set."""
        return config_values.required_value(self.vocab_file)


def find_missing_flags(
    values: Mapping[str, object], preset: Preset | None
) -> list[str]:
    """Returns the names of the flags whose value is None.

    Args:
        values: {flag: value} of the flags that a command needs, completed by
            what the folder of the weights states.
        preset: Preset of the weights, None without weights.

    Raises:
        OSError: flags are missing, because the folder contains no weights.
    """
    missing = [name for name, value in values.items() if value is None]
    if missing and preset:
        # Fail here if the path does not exist or contains no weights, such as
        # the path of an export.
        modeling.find_checkpoint(preset)
    return missing
