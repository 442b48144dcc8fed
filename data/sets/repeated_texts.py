"""Finds texts of a folder that are in both the train set and the dev set."""

from collections.abc import Iterable
from typing import NamedTuple

from absl import logging

from data.sets.set_names import BaseSet
from data.sets.text_keys import split_fraction_of
from files.paths import StrPath


class _SetKeys(NamedTuple):
    """The table of a set, and a number for the texts of each of its rows."""

    path: StrPath
    keys: set[float]


class RepeatedTexts:
    """Warns of texts of the dev set that are in the train set too.

    The caller may add the two sets in any order, or only one set.
    """

    def __init__(self) -> None:
        self._sets: dict[BaseSet, _SetKeys] = {}

    def add(
        self, set_name: BaseSet, path: StrPath, keys: Iterable[str]
    ) -> None:
        """Adds the set "train" or "dev". Warns once both are added.

        Args:
            set_name: which of the two sets.
            path: the table that contains it, for the warning.
            keys: the key of each row's texts. Equal texts have equal keys.
        """
        # Numbers take less memory than texts.
        numbers = {split_fraction_of(key) for key in keys}
        self._sets[set_name] = _SetKeys(path, numbers)
        train, dev = self._sets.get("train"), self._sets.get("dev")
        if train is None or dev is None:
            return
        if num_repeated := len(train.keys & dev.keys):
            logging.warning(
                "%s: %d texts are in the train set too", dev.path, num_repeated
            )
