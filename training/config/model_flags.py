"""The flags of the model that a command loads, and the files that they name.

Training scripts and extract_features.py share them.
"""

import dataclasses
from typing import TypeVar

import modeling
from data.text.tokenization import FullTokenizer
from data.text.tokenizer_loading import load_tokenizer
from model_folders.bert_config import BertConfig
from model_folders.reading.preset import Preset
from options import fields
from options.path_kinds import PathKind

ValueT = TypeVar("ValueT")


def required_value(value: ValueT | None) -> ValueT:
    """Returns the value of a required flag, with a type that has no None.

    For example, --vocab_file may be None on the command line, because the
    folder of --init_checkpoint may state it. `check_required` fails if neither
    sets it. The code that runs after this check calls a property such as
    `ModelFlags.required_vocab_file`, which calls this function.
    """
    assert value is not None, "`check_required` runs before this"
    return value


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelFlags:
    """Flags of the model that a script loads, and of its text."""

    bert_config_file: str | None = fields.identity_option(
        None,
        "JSON file of the model's architecture, from Google or Hugging Face "
        "(config.json). The default is the file in the folder of the weights.",
        kind=PathKind.MODEL,
    )
    vocab_file: str | None = fields.identity_option(
        None,
        "Vocabulary that the model was trained with. The default is the file "
        "in the folder of the weights.",
        kind=PathKind.MODEL,
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
        kind=PathKind.MODEL,
    )

    @property
    def required_config_file(self) -> str:
        """Value of --bert_config_file. The flag must be set."""
        return required_value(self.bert_config_file)

    @property
    def required_vocab_file(self) -> str:
        """Value of --vocab_file. The flag must be set."""
        return required_value(self.vocab_file)


def read_bert_config(model: ModelFlags, preset: Preset | None) -> BertConfig:
    """Reads the configuration in --bert_config_file.

    `preset` is None without weights.
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
        model: names the file, and the casing if a flag or a folder states it.
        set_by_user: names of the flags that the user set.
        bert_config: configuration of the network.
        preset: Preset of the weights, None without weights.
    """
    return load_tokenizer(
        model.required_vocab_file,
        model.do_lower_case,
        is_set_by_user="do_lower_case" in set_by_user,
        vocab_size=bert_config.vocab_size,
        preset=preset,
        config_file=model.required_config_file,
    )
