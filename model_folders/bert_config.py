"""The network's configuration, with the entries of `bert_config.json`."""

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

from files.json_files import JsonObject, read_json
from files.paths import StrPath

# Google's name of the configuration file, which this project writes.
BERT_CONFIG_FILE = "bert_config.json"
# The name of the file of transformers, whose entries differ. KerasHub's file
# has this name too.
HUGGINGFACE_CONFIG_FILE = "config.json"
# The number that Google's code adds to the variance in layer normalization.
LAYER_NORM_EPS = 1e-12
# Names of activations, which modeling/plain_ops.py defines. This module must
# not import Keras, because prediction without TensorFlow uses this module.
ACTIVATIONS = (
    "gelu",
    "gelu_erf",
    "linear",
    "mish",
    "relu",
    "sigmoid",
    "silu",
    "tanh",
)


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """Sizes and rates of a `BertModel`, with the defaults of Google's code.

    Args:
        vocab_size: number of WordPieces in the vocabulary.
        hidden_size: width of every layer's output. A network needs a multiple
            of `num_attention_heads`.
        num_hidden_layers: number of Transformer blocks.
        num_attention_heads: number of attention heads in each block.
        intermediate_size: width of each block's feed-forward layer.
        hidden_act: activation of the feed-forward layer: `"gelu"` (Google's
            tanh approximation), `"gelu_erf"` (exact) or another name in
            `ACTIVATIONS`. As in Google's code, `""` and None mean linear.
        hidden_dropout_prob: fraction of the outputs of embeddings and layers
            to drop in training, in [0, 1).
        attention_probs_dropout_prob: fraction of the attention weights to drop
            in training, in [0, 1).
        max_position_embeddings: longest sequence, in WordPieces.
        type_vocab_size: number of different segments in `token_type_ids`.
        initializer_range: standard deviation of the truncated normal
            distribution of the initial weights.
        layer_norm_eps: number added to the variance in layer normalization.
            `to_dict` omits the default, as Google's files do.
        unused: entries of released files that the network does not use
            (`pooler_fc_size`, `directionality`, ...). `to_dict` includes these
            entries.

    Raises:
        ValueError: a value is out of range or `hidden_act` is unknown.
    """

    vocab_size: int
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str | None = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 16
    initializer_range: float = 0.02
    layer_norm_eps: float = LAYER_NORM_EPS
    unused: JsonObject = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks every value."""
        for field in dataclasses.fields(self):
            name = field.name
            value = getattr(self, name)
            if field.type is int:
                expected = "a whole number above 0"
                is_valid = type(value) is int and value > 0
            elif field.type is float:
                limit = 1 if "dropout" in name else math.inf
                expected = f"a finite number in [0, {limit})"
                is_valid = type(value) in (int, float) and 0 <= value < limit
            elif name == "hidden_act":
                expected = f"one of {sorted(ACTIVATIONS)}"
                # Search a list, because a value from JSON may be unhashable.
                is_valid = value in [None, "", *ACTIVATIONS]
            else:
                continue
            if not is_valid:
                raise ValueError(
                    f"`{name}` must be {expected}. Received: {value!r}"
                )

    # Any, because the constructor checks the type of each value.
    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "BertConfig":
        """Creates a configuration from a dict. Unknown entries become `unused`.

        Raises:
            ValueError: `vocab_size` is missing or a value is out of range.
        """
        names = {field.name for field in dataclasses.fields(cls)} - {"unused"}
        if "vocab_size" not in values:
            raise ValueError("A BERT configuration must contain `vocab_size`")
        return cls(
            **{name: values[name] for name in names & values.keys()},
            unused={
                name: value
                for name, value in values.items()
                if name not in names
            },
        )

    @classmethod
    def from_json_file(cls, json_file: StrPath) -> "BertConfig":
        """Reads a `bert_config.json`.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file is not a JSON object, or `from_dict` raises an
                error for its values. The message names the file.
        """
        return cls.from_file_entries(read_json(json_file), json_file)

    @classmethod
    def from_file_entries(
        cls, entries: JsonObject, path: StrPath
    ) -> "BertConfig":
        """Creates a configuration from the entries of a file, as `from_dict`.

        Raises:
            ValueError: `from_dict` raises an error. The message names the file.
        """
        try:
            return cls.from_dict(entries)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def to_dict(self) -> JsonObject:
        """Returns a new dict of all entries, including the unused entries."""
        values = dataclasses.asdict(self)
        unused = values.pop("unused")
        if self.layer_norm_eps == LAYER_NORM_EPS:
            del values["layer_norm_eps"]
        return {**unused, **values}

    def to_json_string(self) -> str:
        """Returns the entries as JSON, sorted, indented by 2 spaces."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"


def check_config(config: object) -> None:
    """Checks that a value is a BertConfig, and not a dict or a file's path.

    Raises:
        TypeError: the value is a dict, a path or something else.
    """
    if not isinstance(config, BertConfig):
        raise TypeError(
            f"config must be a BertConfig; received {type(config).__name__}. "
            "Use BertConfig.from_dict(values) of a dict, or "
            "modeling.load_config(path) of a file"
        )
