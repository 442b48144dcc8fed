"""Loads the processor of a user's class, or of a model that it trained."""

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


class _LabelsWithoutSets(HeldSets[InputExample]):
    """The labels of a class of which only the name is known, without its sets.

    A command that reads no set, such as an export, needs no more.

    Args:
        preset: what the folder of the model that the class trained states.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__()
        self._preset = preset

    def read_labels(self) -> list[str]:
        """Returns the labels that the model's folder states."""
        return [*(self._preset.labels or ())]

    def read_sets(self, set_name: BaseSet) -> NoReturn:
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
        sets = UserClassSets.load(value, data_dir)
        return ClassificationProcessor(
            sets, fixed_head_settings={PROCESSOR_ENTRY: sets.name}
        )
    if preset and PROCESSOR_ENTRY in preset.training_settings:
        return ClassificationProcessor(_LabelsWithoutSets(preset))
    return None
