"""Runs a user's code that was written for Google's run_classifier.py.

To add a task to Google's code, users write a class in run_classifier.py. This
module runs such a class from a file of its own, and provides the names that the
class uses, even if the file does not import these names from `run_classifier`
and `tokenization`.
"""

import collections
import contextlib
import csv
import dataclasses
import os
import re
import sys
import traceback
import types
from collections.abc import Iterator, Sequence
from typing import Any

from data.classification.classification_examples import InputExample
from data.io import text_files
from data.text import tokenization
from files.paths import StrPath

# {name that TensorFlow 2 lacks: what to do}. tf.compat.v1 has the other names.
_ADVICE_OF_NAME = {
    "app": "copy the class into a file of its own",
    "flags": "copy the class into a file of its own",
    "gfile": "write tf.io.gfile, and tf.io.gfile.GFile for tf.gfile.Open",
}


class GoogleDataProcessor:
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
        numbered = text_files.read_numbered_lines(input_file)
        lines = (line.text for line in numbered)
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


@dataclasses.dataclass(frozen=True)
class UserCode:
    """A file of Python in which a user defined a processor.

    Attributes:
        path: the file of Python, which --processor names.
    """

    path: str

    @property
    def file_name(self) -> str:
        """The name of the file, for messages."""
        return os.path.basename(self.path)

    def run(self) -> dict[str, object]:
        """Runs the file, and returns {name: value} of what it defines.

        Raises:
            ValueError: the code fails. The message names the line.
            OSError: the file cannot be read.
        """
        names = _create_google_names()
        names["__name__"] = self.file_name.partition(".")[0]
        names["__file__"] = self.path
        with open(self.path, "rb") as file:
            source = file.read()
        with self.explain_errors():
            exec(compile(source, self.path, "exec"), names)
        return names

    @contextlib.contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Lets the code import what it expects, and names the line of an error.

        A missing file is an error of the user's data.

        Raises:
            ValueError: the code that runs in the `with` block fails.
            OSError: the code cannot read a file.
        """
        try:
            with _google_modules(os.path.dirname(os.path.abspath(self.path))):
                yield
        except OSError:
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [
                frame.lineno for frame in frames if frame.filename == self.path
            ]
            if isinstance(error, SyntaxError):
                lines.append(error.lineno)
            place = self.file_name
            if lines:
                place += f", line {lines[-1]}"
            raise ValueError(f"{place}: {_describe_error(error)}") from error


class _LateTensorFlow:
    """Stands for `tf` in a file that relies on the import in Google's file."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  any name of tf
        # Most classes use no TensorFlow, which loads slowly.
        import tensorflow as tf

        return getattr(tf, name)


def _create_google_names() -> dict[str, object]:
    """Returns the names that Google's run_classifier.py defines and imports."""
    return {
        "collections": collections,
        "csv": csv,
        "os": os,
        "tf": _LateTensorFlow(),
        "tokenization": _create_tokenization_module(),
        "DataProcessor": GoogleDataProcessor,
        "InputExample": InputExample,
    }


def _create_tokenization_module() -> types.ModuleType:
    module = types.ModuleType("tokenization")
    vars(module).update(vars(tokenization))
    vars(module).update(
        convert_to_unicode=convert_to_unicode,
        printable_text=convert_to_unicode,
    )
    return module


@contextlib.contextmanager
def _google_modules(folder: str) -> Iterator[None]:
    """Lets code import Google's modules, and the modules in its own folder.

    Only code in the `with` block can import them. At its end, `sys.modules` and
    `sys.path` are as they were before.
    """
    script = types.ModuleType("run_classifier")
    vars(script).update(_create_google_names())
    modules = {
        "run_classifier": script,
        "tokenization": _create_tokenization_module(),
    }
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


def _describe_error(error: Exception) -> str:
    name = _parse_missing_name(error)
    if name is None:
        return f"{type(error).__name__}: {error}"
    # The error is TensorFlow's, so TensorFlow is loaded.
    former = sys.modules["tensorflow"].compat.v1
    instead = _ADVICE_OF_NAME.get(name)
    if instead is None and name.startswith("io.gfile."):
        instead = "write tf.io.gfile.GFile, or the name in lower case"
    if instead is None and hasattr(former, name):
        instead = f"write tf.compat.v1.{name}"
    message = f"TensorFlow 2 has no tf.{name}"
    return f"{message}; {instead}" if instead else message


def _parse_missing_name(error: Exception) -> str | None:
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
