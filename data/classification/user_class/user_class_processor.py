"""Knows the sets and the labels of a user's class, or only its labels."""

from typing import Final

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_class.user_class import UserClass
from data.sets.held_sets import HeldSets
from data.sets.set_names import BaseSet
from files.paths import StrPath
from model_folders.reading.preset import Preset

# Entry of model.json: the name of the class that read the sets.
PROCESSOR_ENTRY: Final = "processor"


class UserClassProcessor(ClassificationProcessor):
    """Knows the sets and the labels of a class in a user's file.

    Args:
        user_class: the class. Only its examples show whether they are pairs.
    """

    def __init__(self, user_class: UserClass) -> None:
        super().__init__(HeldSets(user_class.read_set))
        self.settings = {PROCESSOR_ENTRY: user_class.name}
        self._labels = user_class.labels

    def read_labels(self) -> list[str]:
        """Returns the labels in the order of the class."""
        return self._labels


class LabelsOnlyProcessor(ClassificationProcessor):
    """Returns the labels of a model that was trained with a UserClassProcessor.

    A command that reads no set, such as an export, needs no more.

    Args:
        preset: what the folder of the model states.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__(HeldSets(self._fail_to_read))
        self._preset = preset

    def read_labels(self) -> list[str]:
        """Returns the labels that the model's folder states."""
        return list(self._preset.labels or ())

    def _fail_to_read(self, set_name: BaseSet) -> list[InputExample]:
        """Raises a ValueError, because the file of the class is unknown."""
        name = self._preset.training_settings[PROCESSOR_ENTRY]
        raise ValueError(
            f"{self._preset.source} was trained on examples of {name}; set "
            f"--processor=FILE.py:{name} to read examples of this class, or "
            "--task_name to read others"
        )


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
        return UserClassProcessor(UserClass.load(value, data_dir))
    if preset and PROCESSOR_ENTRY in preset.training_settings:
        return LabelsOnlyProcessor(preset)
    return None
