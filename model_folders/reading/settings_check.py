"""Compares a model with the class and settings that it was trained with.

This module imports neither Keras nor TensorFlow.
"""

import dataclasses
import os
from collections.abc import Collection, Mapping
from typing import NamedTuple

from absl import logging

from model_folders import kinds, model_json
from model_folders.bert_config import BertConfig
from model_folders.head_settings import classifier_settings_of
from model_folders.output_modes import OutputMode
from model_folders.reading.preset import NetworkArguments, Preset
from model_folders.tokenizer_files import Tokenizer
from model_folders.training_settings import TokenizerIdentity

# Entries of bert_config.json that inference does not use.
_ENTRIES_UNUSED_IN_INFERENCE = {
    "attention_probs_dropout_prob",
    "hidden_dropout_prob",
    "initializer_range",
    "unused",
}
# Entries of bert_config.json that the shapes of the weights do not determine.
ENTRIES_NOT_IN_SHAPES = ("hidden_act", "layer_norm_eps", "num_attention_heads")


def check_trained_settings(
    preset: Preset,
    bert_config: BertConfig,
    tokenizer: Tokenizer | None = None,
    *,
    network_arguments: NetworkArguments | None = None,
    output_mode: OutputMode | None = None,
    trains: bool = False,
) -> None:
    """Checks that a model is used with the settings it was trained with.

    Args:
        preset: what the folder of the weights states.
        bert_config: configuration of the network that loads the weights.
        tokenizer: tokenizer of the texts, or None.
        network_arguments: arguments of the network, None to not compare them.
        output_mode: what the model's outputs are, None to not compare them.
        trains: whether the model will be trained. Then its sizes may differ
            from the folder's, because a student may contain fewer blocks.

    Raises:
        ValueError: a setting differs. The message names the setting.
    """
    current: dict[str, object] = {
        "bert_config": _select_compared_entries(bert_config.to_dict(), trains),
    }
    if network_arguments:
        current |= network_arguments
    if output_mode:
        current["output_mode"] = output_mode
    if tokenizer:
        current["tokenizer"] = tokenizer.identity
    recorded = _collect_stated_settings(preset, trains)
    if tokenizer and preset.vocab_file:
        tokenizer.vocabulary.check_same_tokens(preset.vocab_file, preset.source)
    difference = find_first_difference(
        recorded, current, recorded.keys() & current.keys()
    )
    if difference:
        raise ValueError(
            f"{preset.source} was trained with {difference.name}="
            f"{difference.recorded}; received {difference.current}. Use the "
            "value that it was trained with"
        )


def _collect_stated_settings(preset: Preset, trains: bool) -> dict[str, object]:
    """Returns {setting: value} that the folder states about its model.

    Raises:
        ValueError: the `bert_config` in model.json is not valid.
    """
    training_settings = preset.training_settings
    recorded: dict[str, object] = {**preset.network_arguments}
    for head_settings in (training_settings.head, preset.head_settings):
        if mode := classifier_settings_of(head_settings).get("output_mode"):
            recorded["output_mode"] = mode
    if trains:
        # --bilstm belongs to the head, which starts with new weights.
        del recorded["bilstm"]
        if training_settings.is_empty:
            # Without a record, any network may be trained.
            del recorded["left_to_right"]
    tokenizer = training_settings.inputs.get("tokenizer", TokenizerIdentity())
    if preset.do_lower_case is not None:
        tokenizer = {"do_lower_case": preset.do_lower_case, **tokenizer}
    recorded["tokenizer"] = tokenizer
    bert_config = training_settings.inputs.get("bert_config")
    if bert_config is None and (config := preset.load_config()):
        bert_config = config.to_dict()
    if bert_config is not None:
        try:
            recorded["bert_config"] = _select_compared_entries(
                bert_config, trains
            )
        except ValueError as error:
            file = os.path.join(preset.folder, model_json.MODEL_JSON_FILE)
            raise ValueError(f"{file}: `bert_config`: {error}") from error
    return recorded


def _select_compared_entries(
    bert_config: Mapping[str, object], trains: bool
) -> dict[str, object]:
    """Returns the entries of a bert_config.json that must not differ."""
    values = dataclasses.asdict(BertConfig.from_dict(bert_config))
    names = (
        ENTRIES_NOT_IN_SHAPES
        if trains
        else values.keys() - _ENTRIES_UNUSED_IN_INFERENCE
    )
    return {name: values[name] for name in names}


class SettingDifference(NamedTuple):
    """A setting that differs from the recorded one.

    Attributes:
        name: name of the setting, dotted if it is an entry in a dict.
        recorded: value that the earlier command recorded.
        current: value that this command would record.
    """

    name: str
    recorded: object
    current: object


def find_first_difference(
    recorded: Mapping[str, object],
    current: Mapping[str, object],
    names: Collection[str],
) -> SettingDifference | None:
    """Returns the first difference, or None.

    Args:
        recorded: settings that the earlier command recorded.
        current: settings of this command.
        names: names of the settings to compare. The names of entries in a dict
            are dotted, such as `bert_config.hidden_size`. Of the entry
            `tokenizer`, only the values that both sides state are compared.
    """
    for name in sorted(names):
        recorded_value = recorded.get(name)
        value = current.get(name)
        if isinstance(recorded_value, dict) and isinstance(value, dict):
            inner = recorded_value.keys() | value.keys()
            if name == "tokenizer":
                inner = recorded_value.keys() & value.keys()
            difference = find_first_difference(recorded_value, value, inner)
            if difference:
                return difference._replace(name=f"{name}.{difference.name}")
        elif recorded_value != value:
            return SettingDifference(name, recorded_value, value)
    return None


def check_model_class(preset: Preset, model_class: str | None) -> None:
    """Checks that the head in a folder was not trained for another task.

    A model without a head passes, although its outputs would be random.

    Args:
        preset: what the folder of the weights states.
        model_class: class of the model that loads the weights, or None if it is
            unknown.

    Raises:
        ValueError: the folder describes a model of a different class.
    """
    if preset.model_class != model_class and all(
        map(kinds.is_task_specific, (preset.model_class, model_class))
    ):
        raise ValueError(
            f"{preset.folder} contains a {preset.model_class}, but this task "
            f"needs a {model_class}. Use the model for its own task, or pass "
            "it to --init_checkpoint, with --do_train and another --output_dir"
        )


def warn_of_pooling(preset: Preset) -> None:
    """Warns if sentence-transformers would compute different vectors."""
    if preset.pooling:
        logging.warning(
            "%s was trained with %s, but this program averages the vectors of "
            "a text's tokens. The results will differ from the vectors that "
            "sentence-transformers computes.",
            preset.folder,
            preset.pooling,
        )


def check_lengths(
    bert_config: BertConfig, file: str, **lengths: int | None
) -> None:
    """Checks lengths against the model's number of positions.

    Args:
        bert_config: configuration of the model.
        file: path of the configuration.
        **lengths: {flag: length in WordPieces, or None}.

    Raises:
        ValueError: a length is above the model's number of positions.
    """
    num_positions = bert_config.max_position_embeddings
    for name, length in lengths.items():
        if length is not None and length > num_positions:
            raise ValueError(
                f"--{name}={length} is more than the model's {num_positions} "
                f"positions (max_position_embeddings in {file}); set a smaller "
                f"--{name}"
            )
