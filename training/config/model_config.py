"""The flags of every command that runs a model on its devices.

This module imports no TensorFlow.
"""

import dataclasses
from collections.abc import Sequence

import modeling
from model_folders.model_json import TrainingSettings
from model_folders.reading.preset import Preset
from options.config import Config
from options.fields import group
from training.config.device_options import DeviceOptions
from training.config.model_options import ModelOptions

# Flags that --init_checkpoint makes unnecessary.
_FLAGS_STATED_BY_FOLDER = ("bert_config_file", "vocab_file")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelConfig(Config):
    """Base class of the flags of a script that runs a model on its devices."""

    model: ModelOptions = group(ModelOptions)
    devices: DeviceOptions = group(DeviceOptions)

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the files of the command."""
        return self.devices.is_chief

    @property
    def locks_outputs(self) -> bool:
        """Whether this process locks the outputs, as only the chief does."""
        return self.is_chief

    def describe_missing(
        self, flag: str, training_settings: TrainingSettings
    ) -> str:
        """Returns what to set instead of a required flag that is not set.

        Args:
            flag: name of the flag.
            training_settings: settings that a resumed run recorded, {} in a new
                run.
        """
        return f"--{flag}"


def check_required(
    config: ModelConfig,
    required_flags: Sequence[str],
    preset: Preset | None,
    *,
    training_settings: TrainingSettings,
) -> None:
    """Checks that flags are set, by the user or by the folder of the weights.

    Call this function before those that read the files.

    Args:
        config: the flags, as the user and the folder of the weights set them.
        required_flags: names of the flags that must be set.
        preset: what the folder of the weights states, None without weights.
        training_settings: settings that the run in --output_dir recorded, {}
            for a new run.

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
    descriptions += [
        config.describe_missing(name, training_settings) for name in missing
    ]
    raise ValueError(f"missing required flags: {', '.join(descriptions)}")
