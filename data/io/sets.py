"""Reads a task's train, dev and test set from a folder."""

import abc
import os
from collections.abc import Sequence
from typing import Generic, TypeVar

from files.paths import StrPath

Example = TypeVar("Example")


class SetReader(abc.ABC, Generic[Example]):
    """Reads the train, dev and test set of a data folder.

    Google's class `DataProcessor` defines methods of the same names.
    """

    @abc.abstractmethod
    def read_set(self, data_dir: StrPath, name: str) -> list[Example]:
        """Returns the examples of the set "train", "dev" or "test".

        Raises:
            OSError: the set's file does not exist.
            ValueError: the task has no such set, or a line is malformed. The
                message names the file and the line.
        """

    def get_train_examples(self, data_dir: StrPath) -> list[Example]:
        """Returns the training examples. Raises the errors of `read_set`."""
        return self.read_set(data_dir, "train")

    def get_dev_examples(self, data_dir: StrPath) -> list[Example]:
        """Returns the evaluation examples. Raises the errors of `read_set`."""
        return self.read_set(data_dir, "dev")

    def get_test_examples(self, data_dir: StrPath) -> list[Example]:
        """Returns the test examples. Raises the errors of `read_set`."""
        return self.read_set(data_dir, "test")

    def read_split(self, data_dir: StrPath, split: str) -> list[Example]:
        """Returns the examples of the split "train", "eval" or "predict"."""
        sets = {"train": "train", "eval": "dev", "predict": "test"}
        return self.read_set(data_dir, sets[split])


def find_set_file(
    data_dir: StrPath | None, name: str, file_names: Sequence[str]
) -> str:
    """Finds the file of a set in a data folder.

    The file's name must be one of `file_names`, with or without an additional
    `.gz`. `name` is the name of the set, for error messages.

    Raises:
        FileNotFoundError: `data_dir` contains none of the `file_names`.
        ValueError: `data_dir` contains several of the `file_names`, or is None
            because --data_dir is not set.
    """
    if data_dir is None:
        raise ValueError(
            "--data_dir is not set, and the weights' folder does not name the "
            "labels. Set --data_dir or --labels"
        )
    paths = [os.path.join(data_dir, file_name) for file_name in file_names]
    packed = [f"{path}.gz" for path in paths]
    found = list(filter(os.path.isfile, [*paths, *packed]))
    if not found:
        raise FileNotFoundError(
            f"there is no {name} set in {data_dir}: it must be named "
            f"{' or '.join(file_names)}"
        )
    if len(found) > 1:
        raise ValueError(
            f"there must be only one file of the {name} set, not "
            f"{' and '.join(found)}. Keep one of these files"
        )
    return found[0]
