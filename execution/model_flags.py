"""The flags of the model that a command loads, and of its text.

Training scripts and extract_features.py share them. This module imports no
TensorFlow.
"""

import dataclasses

from command_line import config_values, flags
from command_line.path_flags import PathKind


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
