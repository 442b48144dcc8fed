"""The flags of the model that a command loads.

Training scripts and extract_features.py share them. `read_bert_config` and
`read_tokenizer` in preparation/ read the files that they name.
"""

import dataclasses
from typing import TypeVar

from options import fields
from options.path_types import PathType

ValueT = TypeVar("ValueT")


def required_value(value: ValueT | None) -> ValueT:
    """Returns the value of a required flag, with a type that has no None.

    For example, --vocab_file may be None on the command line, because the
    folder of --init_checkpoint may state it. `check_required` fails if neither
    sets it. The code that runs after this check calls a property such as
    `ModelOptions.required_vocab_file`, which calls this function.
    """
    assert value is not None, "`check_required` runs before this"
    return value


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Flags of the model that a script loads, and of its text."""

    bert_config_file: str | None = fields.identity_option(
        None,
        "JSON file of the model's architecture, from Google or Hugging Face "
        "(config.json). The default is the file in the folder of the weights.",
        path_type=PathType.MODEL,
    )
    vocab_file: str | None = fields.identity_option(
        None,
        "Vocabulary that the model was trained with. The default is the file "
        "in the folder of the weights.",
        path_type=PathType.MODEL,
    )
    do_lower_case: bool = fields.identity_option(
        True,
        "Lower-case the text: True for uncased models, False for cased models. "
        "By default, tokenizer_config.json beside the model or the vocabulary "
        "decides.",
    )
    init_checkpoint: str | None = fields.training_option(
        None,
        "Checkpoint to start from: a folder with weights of Google, TF-Hub, "
        "KerasHub, transformers or this project, the prefix of a checkpoint "
        "(bert_model.ckpt), a .safetensors or .h5 file, a pytorch_model.bin, "
        "or hf://OWNER/NAME[@REVISION] to download a model of the Hugging Face "
        "hub. Its folder also states the configuration, the vocabulary and the "
        "casing.",
        path_type=PathType.MODEL,
    )

    @property
    def required_config_file(self) -> str:
        """Value of --bert_config_file. The flag must be set."""
        return required_value(self.bert_config_file)

    @property
    def required_vocab_file(self) -> str:
        """Value of --vocab_file. The flag must be set."""
        return required_value(self.vocab_file)
