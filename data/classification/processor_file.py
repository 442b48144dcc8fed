"""Reads examples with a user's DataProcessor, written for Google's code.

Google's way to add a task is a class in run_classifier.py. Such a class, copied
to a file of its own, finds here what it finds there, whether it imports it from
`run_classifier` and `tokenization` or takes it from its own module.
"""

import collections
import contextlib
import csv
import os
import re
import sys
import traceback
import types
from collections.abc import Iterator, Sequence
from typing import Any, Final

from command_line.path_flags import split_code
from data.classification import features
from data.classification.processor import ClassificationProcessor
from data.io import text_files
from data.io.split_names import SETS, Purpose
from data.text import tokenization
from files.paths import StrPath
from model_folders.labels import check_labels, first_labels
from model_folders.presets import Preset

# Entry of model.json: the name of the class that read the sets.
ENTRY: Final = "processor"
# {name that TensorFlow 2 lacks: what to do}. tf.compat.v1 has the other names.
_REPLACED = {
    "app": "copy the class into a file of its own",
    "flags": "copy the class into a file of its own",
    "gfile": "write tf.io.gfile, and tf.io.gfile.GFile for tf.gfile.Open",
}


class DataProcessor:
    """The base class in Google's run_classifier.py."""

    def get_train_examples(self, data_dir: StrPath) -> Sequence[object]:
        """Reads the InputExamples of the train set from --data_dir."""
        raise NotImplementedError("define get_train_examples")

    def get_dev_examples(self, data_dir: StrPath) -> Sequence[object]:
        """Reads the InputExamples of the dev set from --data_dir."""
        raise NotImplementedError("define get_dev_examples")

    def get_test_examples(self, data_dir: StrPath) -> Sequence[object]:
        """Reads the InputExamples of the test set from --data_dir."""
        raise NotImplementedError("define get_test_examples")

    def get_labels(self) -> Sequence[object]:
        """Returns the labels, in the order of the model's outputs."""
        raise NotImplementedError("define get_labels")

    @classmethod
    def _read_tsv(
        cls, input_file: StrPath, quotechar: str | None = None
    ) -> list[list[str]]:
        """Reads a file whose columns are separated by tabs."""
        lines = (line for _, line in text_files.read_numbered(input_file))
        if quotechar is None:
            return [line.split("\t") if line else [] for line in lines]
        ended = (f"{line}\n" for line in lines)
        return [*csv.reader(ended, delimiter="\t", quotechar=quotechar)]


def convert_to_unicode(text: object) -> str:
    """Returns a text as str. Bytes are read as UTF-8.

    Raises:
        ValueError: the value is neither str nor bytes.
    """
    if isinstance(text, bytes):
        return text.decode("utf-8", "ignore")
    if not isinstance(text, str):
        raise ValueError(f"{text!r:.80} is a {type(text).__name__}, not a text")
    return text


class UserProcessor(ClassificationProcessor):
    """Reads the labels and the sets with a class of a user's file.

    Args:
        value: FILE.py:CLASS. The file is run.
        data_dir: folder that the methods of the class get.

    Attributes:
        name: name of the class.
        text_columns: (), because only the examples tell whether they are pairs.

    Raises:
        ValueError: the file contains no such class, or its code fails. The
            message names the line.
        OSError: the file cannot be read.
    """

    def __init__(self, value: str, data_dir: StrPath | None) -> None:
        super().__init__()
        path, self.name = split_code(value)
        self.text_columns = ()
        self._data_dir = data_dir
        self._path = path
        self._file = os.path.basename(path)
        if not self.name.isidentifier():
            raise ValueError(
                f"--processor={value} must be FILE.py:CLASS, such as "
                "tickets.py:TicketsProcessor"
            )
        names = _google_names()
        names |= {"__name__": self._file.partition(".")[0], "__file__": path}
        with open(path, "rb") as file:
            source = file.read()
        with self._run_code():
            exec(compile(source, path, "exec"), names)
        if self.name not in names:
            raise ValueError(f"--processor={value}: there is no {self.name}")
        with self._run_code():
            self._user: Any = names[self.name]()
            labels = [*map(_label_text, self._user.get_labels())]
        check_labels(labels, self._method("get_labels"), fewest=2)
        self._labels = labels
        self.settings = {ENTRY: self.name}

    def labels(self) -> list[str]:
        """Returns the labels in the order of the class."""
        return self._labels

    def load(
        self, purpose: Purpose
    ) -> dict[Purpose, list[features.InputExample]]:
        """Returns {`purpose`: the examples of its set}.

        Raises:
            ValueError: the set is empty, an example is malformed, or the user's
                code fails. The message names the line or the method.
            OSError: the user's code cannot read a file.
        """
        name = f"get_{SETS[purpose]}_examples"
        with self._run_code():
            user_examples = [*getattr(self._user, name)(self._data_dir)]
        if not user_examples:
            raise ValueError(f"{self._method(name)} returned no example")
        examples = [
            self._convert(example, number, purpose)
            for number, example in enumerate(user_examples)
        ]
        is_pair = any(example.text_b for example in examples)
        columns = ["guid", "text_a"]
        if is_pair:
            columns.append("text_b")
        if purpose == "eval":
            columns.append("label")
        for example in examples if purpose != "train" else ():
            example.row = {name: getattr(example, name) for name in columns}
        return {purpose: examples}

    def _convert(
        self, example: object, number: int, purpose: Purpose
    ) -> features.InputExample:
        """Converts an example of the user's class, which need not be ours.

        `number` is its place in the set, for an example without a guid.
        """
        guid = getattr(example, "guid", number)
        name = self._method(f"get_{SETS[purpose]}_examples")
        where = f"{name}, example {guid}"
        try:
            text_a = convert_to_unicode(getattr(example, "text_a", None))
            text_b = getattr(example, "text_b", None)
            if text_b is not None:
                text_b = convert_to_unicode(text_b)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        label = _label_text(getattr(example, "label", None))
        # As in Google's code, the labels of a test set are placeholders.
        if purpose != "predict" and label not in self._labels:
            raise ValueError(
                f"{where}: unknown label {label!r}; get_labels returns "
                f"{first_labels(self._labels)}"
            )
        return features.InputExample(guid, text_a, text_b, label)

    def _method(self, name: str) -> str:
        return f"{self._file}: {self.name}.{name}"

    @contextlib.contextmanager
    def _run_code(self) -> Iterator[None]:
        """Turns errors of the user's code into messages that name its line.

        A missing file is an error of the user's data.
        """
        try:
            with _google_modules(os.path.dirname(os.path.abspath(self._path))):
                yield
        except OSError:
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [
                frame.lineno for frame in frames if frame.filename == self._path
            ]
            if isinstance(error, SyntaxError):
                lines.append(error.lineno)
            where = f"{self._file}, line {lines[-1]}" if lines else self._file
            raise ValueError(f"{where}: {_describe(error)}") from error


class RecordedProcessor(ClassificationProcessor):
    """Knows the labels of a model that a UserProcessor's sets trained.

    It predicts or exports where no set is read.

    Args:
        preset: Preset of the model.
    """

    def __init__(self, preset: Preset) -> None:
        super().__init__()
        self.text_columns = ()
        self._preset = preset

    def labels(self) -> list[str]:
        """Returns the labels that the model's folder states."""
        return list(self._preset.labels or ())

    def load(
        self, purpose: Purpose
    ) -> dict[Purpose, list[features.InputExample]]:
        """Raises a ValueError, because the user's class is unknown."""
        name = self._preset.recorded_settings[ENTRY]
        raise ValueError(
            f"{self._preset.source} was trained on examples of {name}; set "
            f"--processor=FILE.py:{name} to read examples of this class, or "
            "--task_name to read others"
        )


def find_processor(
    value: str | None, data_dir: StrPath | None, preset: Preset | None
) -> ClassificationProcessor | None:
    """Returns the processor of --processor, or of the model of such a run.

    Args:
        value: value of --processor.
        data_dir: value of --data_dir.
        preset: Preset of the weights, None if the flags name the task's data.

    Raises:
        ValueError, OSError: as UserProcessor raises them.
    """
    if value:
        return UserProcessor(value, data_dir)
    if preset and ENTRY in preset.recorded_settings:
        return RecordedProcessor(preset)
    return None


class _LateTensorFlow:
    """`tf` in a file that does not import it. Google's file does."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        # Most classes use no TensorFlow, which loads slowly.
        import tensorflow as tf

        return getattr(tf, name)


def _google_names() -> dict[str, Any]:
    """Returns what Google's run_classifier.py defines and imports."""
    return {
        "collections": collections,
        "csv": csv,
        "os": os,
        "tf": _LateTensorFlow(),
        "tokenization": _tokenization(),
        "DataProcessor": DataProcessor,
        "InputExample": features.InputExample,
    }


def _tokenization() -> types.ModuleType:
    module = types.ModuleType("tokenization")
    vars(module).update(vars(tokenization))
    vars(module).update(
        convert_to_unicode=convert_to_unicode,
        printable_text=convert_to_unicode,
    )
    return module


@contextlib.contextmanager
def _google_modules(folder: str) -> Iterator[None]:
    """Lets code import Google's modules, and those in its own folder."""
    script = types.ModuleType("run_classifier")
    vars(script).update(_google_names())
    modules = {"run_classifier": script, "tokenization": _tokenization()}
    former = {
        name: sys.modules[name] for name in modules if name in sys.modules
    }
    sys.modules.update(modules)
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in modules:
            del sys.modules[name]
        sys.modules.update(former)


def _label_text(label: object) -> str:
    """Returns a label as text. Labels may be numbers."""
    return convert_to_unicode(label if isinstance(label, bytes) else str(label))


def _describe(error: Exception) -> str:
    name = _missing_in_tensorflow(error)
    if name is None:
        return f"{type(error).__name__}: {error}"
    # The error is TensorFlow's, so TensorFlow is loaded.
    former = sys.modules["tensorflow"].compat.v1
    instead = _REPLACED.get(name)
    if instead is None and name.startswith("io.gfile."):
        instead = "write tf.io.gfile.GFile, or the name in lower case"
    if instead is None and hasattr(former, name):
        instead = f"write tf.compat.v1.{name}"
    message = f"TensorFlow 2 has no tf.{name}"
    return f"{message}; {instead}" if instead else message


def _missing_in_tensorflow(error: Exception) -> str | None:
    """Returns the name behind `tf.` that is missing, None for other errors."""
    # Python words these texts. Before Python 3.12, no attribute of the error of
    # `from tensorflow import gfile` contains the name, so read all three texts.
    module = r"'tensorflow(?:\._api\.v2)?(\.[\w.]+)?'"
    for pattern in (
        rf"module {module} has no attribute '(\w+)'",
        r"cannot import name ()'(\w+)' from 'tensorflow'",
        r"No module named 'tensorflow()\.([\w.]+)'",
    ):
        if match := re.match(pattern, str(error)):
            return f"{match[1] or ''}.{match[2]}".removeprefix(".")
    return None
