"""Reads a task's sets by a user's DataProcessor, written for Google's code.

--processor=FILE.py:CLASS names such a class. google_code.py runs the file that
contains it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, Self

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import ClassificationProcessor
from data.classification.google_code import UserCode, convert_to_unicode
from data.sets.held_sets import HeldSets
from data.sets.set_names import BaseSet
from files.paths import StrPath
from model_folders.head_settings import classifier_settings_of
from model_folders.labels import check_labels, describe_labels
from model_folders.reading.preset import Preset
from options.path_flags import split_file_and_name

# Entry of model.json: the name of the class that read the sets.
PROCESSOR_ENTRY: Final = "processor"


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
    if preset and PROCESSOR_ENTRY in preset.training_settings.head:
        return ClassificationProcessor(_LabelsWithoutSets(preset))
    return None


class _LabelsWithoutSets(HeldSets[InputExample]):
    """The labels of a class of which only the name is known, without its sets.

    A command that reads no set, such as an export, needs no more.

    Args:
        preset: what the folder of the model that the class trained says.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__()
        self._preset = preset

    def read_labels(self) -> list[str]:
        """Returns the labels that the files in the model's folder name."""
        return [*(self._preset.labels or ())]

    def read_sets(self, set_name: BaseSet) -> NoReturn:
        """Raises a ValueError, because the file of the class is unknown."""
        head = classifier_settings_of(self._preset.training_settings.head)
        name = head[PROCESSOR_ENTRY]
        raise ValueError(
            f"{self._preset.source} was trained on examples of {name}; set "
            f"--processor=FILE.py:{name} to read examples of this class, or "
            "--task_name to read others"
        )


class UserClassSets(HeldSets[InputExample]):
    """The sets of a task, which methods of a class in a user's file return.

    Args:
        code: the user's file.
        name: name of the class.
        user: an object of the class.
        labels: the labels that the examples may have, in the order of the
            class.
        data_dir: folder that the methods of the class get.

    Attributes:
        name: name of the class.
    """

    def __init__(
        self,
        code: UserCode,
        name: str,
        user: object,
        labels: list[str],
        data_dir: StrPath | None,
    ) -> None:
        super().__init__()
        self.name = name
        self._labels = labels
        self._code = code
        self._user = user
        self._data_dir = data_dir

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
            # Any, because the class is the user's. `explain_errors` says what
            # it lacks.
            user_class: Any = names[name]
            user = user_class()
            labels = [*map(_label_text, user.get_labels())]
        check_labels(
            labels, f"{code.file_name}: {name}.get_labels", min_labels=2
        )
        return cls(code, name, user, labels, data_dir)

    def read_sets(
        self, set_name: BaseSet
    ) -> Mapping[BaseSet, list[InputExample]]:
        """Calls a method of the user's class, and converts its examples.

        Raises:
            ValueError: the user's code fails, or returns no example. The
                message names the line or the method.
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

    def read_labels(self) -> list[str]:
        """Returns the labels in the order of the class."""
        return self._labels

    def _to_example(
        self, example: object, index: int, set_name: BaseSet
    ) -> InputExample:
        """Converts an example of the user's class, which need not be ours.

        `index` is its position in the set, for an example without a guid.
        """
        guid = getattr(example, "guid", index)
        name = self._format_method(f"get_{set_name}_examples")
        place = f"{name}, example {guid}"
        try:
            text_a = convert_to_unicode(getattr(example, "text_a", None))
            text_b = getattr(example, "text_b", None)
            if text_b is not None:
                text_b = convert_to_unicode(text_b)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        if set_name == "test":
            # As in Google's code, the labels of a test set are placeholders.
            return InputExample(guid, text_a, text_b)
        label = _label_text(getattr(example, "label", None))
        if label not in self._labels:
            raise ValueError(
                f"{place}: unknown label {label!r}; get_labels returns "
                f"{describe_labels(self._labels)}"
            )
        return InputExample(guid, text_a, text_b, label)

    def _format_method(self, name: str) -> str:
        return f"{self._code.file_name}: {self.name}.{name}"


def _with_row(example: InputExample, columns: Sequence[str]) -> InputExample:
    """Returns a copy whose row contains the attributes named `columns`."""
    row = {column: getattr(example, column) for column in columns}
    return dataclasses.replace(example, row=row)


def _label_text(label: object) -> str:
    """Returns a label as text. Labels may be numbers."""
    return convert_to_unicode(label if isinstance(label, bytes) else str(label))
