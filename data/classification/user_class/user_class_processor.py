"""Processors of a user's class: its sets and labels, or only its labels."""

from typing import Final, NoReturn

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_class.user_class_sets import UserClassSets
from data.sets.held_sets import HeldSets
from data.sets.set_names import BaseSet
from files.paths import StrPath
from model_folders.reading.preset import Preset

# Entry of model.json: the name of the class that read the sets.
PROCESSOR_ENTRY: Final = "processor"


class UserClassProcessor(ClassificationProcessor):
    """Processor of a class in a user's file: its sets and its labels.

    Args:
        sets: the sets of the class. Only their examples show whether they are
            pairs.
    """

    def __init__(self, sets: UserClassSets) -> None:
        super().__init__(sets)
        self.settings = {PROCESSOR_ENTRY: sets.name}
        self._labels = sets.labels

    def read_labels(self) -> list[str]:
        """Returns the labels in the order of the class."""
        return self._labels


class _MissingSets(HeldSets[InputExample]):
    """The sets of a class of which only the name is known.

    Args:
        preset: what the folder of the model that was trained on them states.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__()
        self._preset = preset

    def read_sets(self, set_name: BaseSet) -> NoReturn:
        """Raises a ValueError, because the file of the class is unknown."""
        name = self._preset.training_settings[PROCESSOR_ENTRY]
        raise ValueError(
            f"{self._preset.source} was trained on examples of {name}; set "
            f"--processor=FILE.py:{name} to read examples of this class, or "
            "--task_name to read others"
        )


class LabelsOnlyProcessor(ClassificationProcessor):
    """Processor of a model that was trained with a UserClassProcessor.

    It contains only the labels, because a command that reads no set, such as an
    export, needs no more.

    Args:
        preset: what the folder of the model states.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__(_MissingSets(preset))
        self._labels = [*(preset.labels or ())]

    def read_labels(self) -> list[str]:
        """Returns the labels that the model's folder states."""
        return self._labels


def load_user_class_processor(
    value: str | None, data_dir: StrPath | None, preset: Preset | None
) -> ClassificationProcessor | None:
    """Creates the processor that --processor or a model's folder names.

    Returns None if neither the flag nor the folder names a processor.

    Args:
        value: value of --processor.
        data_dir: value of --data_dir.
        preset: Preset of the weights, None if the flags name the task's
            data.
    """
    if value:
        return UserClassProcessor(UserClassSets.load(value, data_dir))
    if preset and PROCESSOR_ENTRY in preset.training_settings:
        return LabelsOnlyProcessor(preset)
    return None
