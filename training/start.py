"""Finds out what a training command starts from, before any slow work.

The flags are completed by what the folder of the weights states. The folder,
the configuration and the vocabulary are read once, and passed on as a
`StartingPoint`. This module imports no TensorFlow.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Generic, Self, TypeVar

import modeling
from command_line import config_values, flags
from command_line.declared_flags import flags_of
from command_line.flags import Role
from data.text.tokenization import FullTokenizer, load_tokenizer
from model_folders import hub, model_json, presets
from model_folders.bert_config import BertConfig
from model_folders.checkpoint_folders import checkpoint_steps, find_best
from model_folders.model_entries import TrainingSettings
from model_folders.presets import Preset
from model_folders.recorded_sets import DevSetRule
from training.run.resuming import check_resumed
from training.training_config import TrainingConfig

TrainingConfigT = TypeVar("TrainingConfigT", bound=TrainingConfig)
# Covariant, so that what takes a StartingPoint[TrainingConfig] accepts that of
# any script.
TrainingConfigT_co = TypeVar(
    "TrainingConfigT_co", bound=TrainingConfig, covariant=True
)
# Flags that name machines or accounts, which model.json must not contain.
_ADDRESS_FLAGS = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})
# Flags that --init_checkpoint makes unnecessary.
_FLAGS_STATED_BY_FOLDER = ("bert_config_file", "vocab_file")


@dataclasses.dataclass(frozen=True)
class StartingPoint(Generic[TrainingConfigT_co]):
    """What a training command starts from.

    Attributes:
        config: the flags, completed by what the folder of the weights states.
        preset: Preset of the weights, None for random weights.
        bert_config: configuration of the network.
        tokenizer: tokenizer of the texts, None without --vocab_file.
        given: names of the flags that the user set.
        script: name of the script, for model.json.
        command: {flag that the user set: value}, for model.json.
        dev_set_rule: which rows of --data_file are the dev set, None without
            the flag.
    """

    config: TrainingConfigT_co
    preset: Preset | None
    bert_config: BertConfig
    tokenizer: FullTokenizer | None
    given: frozenset[str] = frozenset()
    script: str = ""
    command: Mapping[str, object] = dataclasses.field(default_factory=dict)
    dev_set_rule: DevSetRule | None = None

    @property
    def required_tokenizer(self) -> FullTokenizer:
        """The tokenizer of a script whose --vocab_file must be set.

        Raises:
            ValueError: there is no tokenizer.
        """
        if self.tokenizer is None:
            raise ValueError("missing required flag: --vocab_file")
        return self.tokenizer

    @property
    def is_own_run(self) -> bool:
        """Whether the weights are those of the run in --output_dir."""
        return self.preset is not None and self.preset.is_own_run

    @property
    def recorded_settings(self) -> TrainingSettings:
        """The settings that the run of the initial weights recorded, or {}."""
        return self.preset.recorded_settings if self.preset else {}

    def with_flags(self, **values: object) -> Self:
        """Returns this start with other values of some flags."""
        config = config_values.replace_values(self.config, **values)
        return dataclasses.replace(self, config=config)

    def with_dev_set_rule(self, dev_set_rule: DevSetRule) -> Self:
        """Returns this start with the rule for --data_file."""
        return dataclasses.replace(self, dev_set_rule=dev_set_rule)


def read_start(
    parsed: flags.Parsed[TrainingConfigT],
) -> StartingPoint[TrainingConfigT]:
    """Reads the files that a training command starts from.

    Raises:
        ValueError: a required flag is not set, and no folder states it. Or
            flags contradict each other, the folder, the run or a file.
        OSError: a file is missing or cannot be read.
    """
    preset = read_initial_preset(parsed.config)
    config = complete_flags(parsed, preset)
    bert_config = _load_bert_config(config, preset)
    tokenizer = None
    if config.model.vocab_file:
        tokenizer = load_tokenizer(
            config.model.vocab_file,
            config.model.do_lower_case,
            is_given="do_lower_case" in parsed.given,
            vocab_size=bert_config.vocab_size,
            preset=preset,
            config_file=config.model.required_config_file,
        )
    return StartingPoint(
        config=config,
        preset=preset,
        bert_config=bert_config,
        tokenizer=tokenizer,
        given=parsed.given,
        script=parsed.script,
        command=command_to_record(parsed),
    )


def _load_bert_config(
    config: TrainingConfig, preset: Preset | None
) -> BertConfig:
    """Loads --bert_config_file, as the Preset understands its own file.

    Its lengths are checked later, by `checks.check_files`, because the rows of
    --data_file may still change the flags.
    """
    file = config.model.required_config_file
    if preset and file == preset.config_file:
        bert_config = preset.load_config()
        if bert_config is not None:
            return bert_config
    return modeling.load_config(file)


def read_initial_preset(config: TrainingConfig) -> Preset | None:
    """Reads the folder of the weights that a training command begins with.

    This is --output_dir if it contains a checkpoint, or only a best step and
    the command does not train. Otherwise it is the folder of --init_checkpoint.
    Returns None if the weights are random.
    """
    folder = config.training.output_dir
    checkpoint = config.initial_checkpoint
    flag = "--init_checkpoint" if config.model.init_checkpoint else "--teacher"
    if checkpoint:
        # A wrong path is an error even if the command does not use it.
        presets.check_path(checkpoint, flag)
    is_run = bool(checkpoint_steps(folder))
    if not (is_run or config.training.do_train):
        is_run = bool(find_best(folder))
    if is_run:
        return presets.read_preset(folder, "--output_dir", is_own_run=True)
    return presets.read_preset(checkpoint, flag) if checkpoint else None


def complete_flags(
    parsed: flags.Parsed[TrainingConfigT], preset: Preset | None
) -> TrainingConfigT:
    """Sets the flags that the user did not set to the values in a folder.

    The network, the vocabulary and the casing come from the folder. The
    settings of the head are only used if the command does not train.

    Args:
        parsed: the flags of the command line, and which the user set.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: a required flag is not set, and the folder does not state
            it. Or flags contradict each other, the folder or the run.
    """
    config = parsed.config
    trains = config.training.do_train
    if preset and (preset.is_own_run or not trains):
        preset.check_head(config.head)
    if preset:
        stated = _stated_flags(parsed, preset)
        source = os.path.join(preset.path, model_json.MODEL_JSON_FILE)
        config = config_values.fill_unset(config, parsed.given, stated, source)
    check_required(config, config.required, preset)
    config.check(parsed.given)
    if not (preset or trains):
        raise ValueError(
            f"no checkpoint in --output_dir={config.training.output_dir} and "
            "no --init_checkpoint: train first, or set --init_checkpoint"
        )
    if trains:
        check_resumed(config, preset)
    return config


def _stated_flags(
    parsed: flags.Parsed[TrainingConfigT], preset: Preset
) -> dict[str, object]:
    """Returns {flag: value} that the folder states."""
    stated: dict[str, object] = {**preset.identity_flags()}
    if not parsed.config.training.do_train:
        stated |= {**preset.head_settings, **preset.network}
        stated |= preset.decision_flags()
        stated["labels"] = preset.labels
    if preset.dev_set_rule:
        stated["dev_fraction"] = preset.dev_set_rule.dev_fraction
    if preset.is_own_run and "data_file" in parsed.given:
        # The run chose these values to suit its data.
        recorded = preset.recorded_settings.get("flags", {})
        stated["max_seq_length"] = recorded.get("max_seq_length")
        stated["num_train_epochs"] = recorded.get("num_train_epochs")
    return stated


def check_required(
    config: flags.Config, required: Sequence[str], preset: Preset | None
) -> None:
    """Checks that flags are set, by the user or by the folder of the weights.

    Args:
        config: the completed flags.
        required: names of the flags that must be set.
        preset: Preset of the weights, None without weights.

    Raises:
        ValueError: a flag is not set. The message names all of them.
        OSError: the folder contains no weights.
    """
    values = config_values.values_of(config)
    missing = [name for name in required if values[name] is None]
    if not missing:
        return
    if preset:
        # Fail here if the path does not exist or contains no weights, such as
        # the path of an export.
        modeling.find_checkpoint(preset)
    run_settings: Mapping[str, object] = {}
    if preset and preset.is_own_run:
        run_settings = preset.recorded_settings
    descriptions = []
    if not preset and "bert_config_file" in missing:
        descriptions.append(
            "--init_checkpoint (or --bert_config_file and --vocab_file, for "
            "random weights)"
        )
        missing = [
            name for name in missing if name not in _FLAGS_STATED_BY_FOLDER
        ]
    descriptions += [
        config.describe_missing(name, run_settings) for name in missing
    ]
    raise ValueError(f"missing required flags: {', '.join(descriptions)}")


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
    max_length = bert_config.max_position_embeddings
    for name, length in lengths.items():
        if length is not None and length > max_length:
            raise ValueError(
                f"--{name}={length} is more than the model's {max_length} "
                f"positions (max_position_embeddings in {file}); set a smaller "
                f"--{name}"
            )


def command_to_record(parsed: flags.Parsed[flags.ConfigT]) -> dict[str, object]:
    """Returns {flag that the user set: value} without folders in paths.

    A model of the hub keeps its name, and gets the commit that was downloaded.
    """
    command = {
        name: value
        for name, value in parsed.command.items()
        if name not in _ADDRESS_FLAGS
    }
    values = config_values.values_of(parsed.config)
    for flag in flags_of(parsed.config, *Role):
        if flag.kind is None or flag.name not in command:
            continue
        source = hub.source_of(values[flag.name] or "")
        paths = str(command[flag.name]).split(",")
        names = [os.path.basename(path.rstrip("/")) for path in paths]
        command[flag.name] = source or ",".join(names)
    return command
