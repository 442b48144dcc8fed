"""Reads examples with a user's DataProcessor, written for Google's code.

google_code.py runs the file that contains the class.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, Self

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.user_class.google_code import (
    UserCode,
    convert_to_unicode,
)
from data.sets.held_sets import TaskSets
from data.sets.set_names import BaseSet
from files.paths import StrPath
from model_folders.labels import check_labels, format_first_labels
from model_folders.reading.presets import Preset
from options.path_kinds import split_file_and_name

# Entry of model.json: the name of the class that read the sets.
PROCESSOR_ENTRY: Final = "processor"


class UserClassProcessor(ClassificationProcessor):
    """Knows the sets and the labels of a class in a user's file.

    Args:
        sets: the sets that the class reads.
        name: name of the class in the file.
        labels: the labels in the order of the class.

    Attributes:
        name: the argument.
        text_columns: (), because only the examples show whether they are pairs.
    """

    def __init__(
        self, sets: "UserClassSets", name: str, labels: list[str]
    ) -> None:
        super().__init__(sets)
        self.name = name
        self.text_columns = ()
        self.settings = {PROCESSOR_ENTRY: name}
        self._labels = labels

    @classmethod
    def load(cls, value: str, data_dir: StrPath | None) -> Self:
        """Runs the file of --processor, and creates an object of its class.

        Args:
            value: FILE.py:CLASS.
            data_dir: value of --data_dir.

        Raises:
            ValueError: the file contains no such class, or its code fails. The
                message names the line.
            OSError: the file cannot be read.
        """
        path, name = split_file_and_name(value)
        if not name.isidentifier():
            raise ValueError(
                f"--processor={value} must be FILE.py:CLASS, such as "
                "tickets.py:TicketsProcessor"
            )
        code = UserCode(path)
        names = code.run()
        if name not in names:
            raise ValueError(f"--processor={value}: there is no {name}")
        with code.explain_errors():
            # Any, because the class is the user's. `explain_errors` tells what
            # it lacks.
            user_class: Any = names[name]
            user = user_class()
            labels = [*map(_label_text, user.get_labels())]
        check_labels(
            labels, f"{code.file_name}: {name}.get_labels", min_labels=2
        )
        sets = UserClassSets(code, name, user, labels, data_dir)
        return cls(sets, name, labels)

    def read_labels(self) -> list[str]:
        """Returns the labels in the order of the class."""
        return self._labels


class UserClassSets(TaskSets[InputExample]):
    """The sets that the methods of a user's class return.

    Args:
        code: the user's file.
        name: name of the class in the file.
        user: an object of the class.
        labels: the labels that the examples may have.
        data_dir: folder that the methods of the class get.
    """

    def __init__(
        self,
        code: UserCode,
        name: str,
        user: object,
        labels: Sequence[str],
        data_dir: StrPath | None,
    ) -> None:
        super().__init__()
        self._code = code
        self._name = name
        self._user = user
        self._labels = labels
        self._data_dir = data_dir

    def _read_file_of(
        self, set_name: BaseSet
    ) -> dict[BaseSet, list[InputExample]]:
        """Calls a method of the user's class, for `read`.

        If the user's code fails, the message names the line or the method.
        """
        name = f"get_{set_name}_examples"
        with self._code.explain_errors():
            user_examples = [*getattr(self._user, name)(self._data_dir)]
        if not user_examples:
            raise ValueError(f"{self._format_method(name)} returned no example")
        examples = [
            self._to_example(example, index, set_name)
            for index, example in enumerate(user_examples)
        ]
        is_pair = any(example.text_b for example in examples)
        columns = ["guid", "text_a"]
        if is_pair:
            columns.append("text_b")
        if set_name == "dev":
            columns.append("label")
        if set_name != "train":
            examples = [_with_row(example, columns) for example in examples]
        return {set_name: examples}

    def _to_example(
        self, example: object, index: int, set_name: BaseSet
    ) -> InputExample:
        """Converts an example of the user's class, which need not be ours.

        `index` is its place in the set, for an example without a guid.
        """
        guid = getattr(example, "guid", index)
        name = self._format_method(f"get_{set_name}_examples")
        where = f"{name}, example {guid}"
        try:
            text_a = convert_to_unicode(getattr(example, "text_a", None))
            text_b = getattr(example, "text_b", None)
            if text_b is not None:
                text_b = convert_to_unicode(text_b)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if set_name == "test":
            # As in Google's code, the labels of a test set are placeholders.
            return InputExample(guid, text_a, text_b)
        label = _label_text(getattr(example, "label", None))
        if label not in self._labels:
            raise ValueError(
                f"{where}: unknown label {label!r}; get_labels returns "
                f"{format_first_labels(self._labels)}"
            )
        return InputExample(guid, text_a, text_b, label)

    def _format_method(self, name: str) -> str:
        return f"{self._code.file_name}: {self._name}.{name}"


class LabelsOnlyProcessor(ClassificationProcessor):
    """Returns the labels of a model that was trained with a UserClassProcessor.

    A command that reads no set, such as an export, needs no more.

    Args:
        preset: what the folder of the model states.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__(NoSets(preset))
        self.text_columns = ()
        self._preset = preset

    def read_labels(self) -> list[str]:
        """Returns the labels that the model's folder states."""
        return list(self._preset.labels or ())


class NoSets(TaskSets[InputExample]):
    """The sets of a model whose folder names the user's class, but no file.

    Args:
        preset: what the folder of the model states.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__()
        self._preset = preset

    def _read_file_of(
        self, set_name: BaseSet
    ) -> dict[BaseSet, list[InputExample]]:
        """Raises a ValueError, because the user's class is unknown."""
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
        return UserClassProcessor.load(value, data_dir)
    if preset and PROCESSOR_ENTRY in preset.training_settings:
        return LabelsOnlyProcessor(preset)
    return None


def _with_row(example: InputExample, columns: Sequence[str]) -> InputExample:
    """Returns a copy whose row contains the attributes named `columns`."""
    row = {column: getattr(example, column) for column in columns}
    return dataclasses.replace(example, row=row)


def _label_text(label: object) -> str:
    """Returns a label as text. Labels may be numbers."""
    return convert_to_unicode(label if isinstance(label, bytes) else str(label))
