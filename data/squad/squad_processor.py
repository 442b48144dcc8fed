"""Reads the sets of run_squad.py: the questions to train on, and to answer."""

import random
from collections.abc import Mapping

from data.sets.held_sets import HeldSets
from data.sets.set_names import BaseSet
from data.squad import answer_scoring
from data.squad.squad_examples import SquadExample, read_squad_examples
from data.squad.squad_questions import SquadFile, read_squad_file
from data.tables.table_formats import TableLayout
from files.paths import StrPath


class SquadProcessor:
    """Reads the questions to train on, and the questions to answer.

    The class is a `TaskSets`.

    Args:
        files: {"train" or "dev": file of the questions of this set}.
        layout: layout of files that are tables.
        version_2_with_negative: True if questions may have no answer.
        use_char_offsets: True to take the answers of the train set from their
            offsets, and not from the words around them.

    Attributes:
        squad_file: the questions and right answers of the dev set, None until
            the set was read.
    """

    def __init__(
        self,
        files: Mapping[BaseSet, StrPath],
        layout: TableLayout,
        *,
        version_2_with_negative: bool,
        use_char_offsets: bool,
    ) -> None:
        self._sets = HeldSets(self._read_set)
        self.squad_file: SquadFile | None = None
        self._files = files
        self._layout = layout
        self._version_2_with_negative = version_2_with_negative
        self._use_char_offsets = use_char_offsets

    def read(self, set_name: BaseSet) -> list[SquadExample]:
        """Returns the questions of a set, and holds them."""
        return self._sets.read(set_name)

    def take(self, set_name: BaseSet) -> list[SquadExample]:
        """Returns a set as `read` does, and holds it no longer."""
        return self._sets.take(set_name)

    def check_answers(self) -> None:
        """Checks that the dev set can be scored.

        A file without answers then stops the script now, not after an epoch.

        Raises:
            OSError: the file of the dev set cannot be read.
            ValueError: it is malformed, or contains no right answers.
        """
        dev_set = self.read("dev")
        empty_answers = {example.qas_id: "" for example in dev_set}
        answer_scoring.score_predictions(
            self.required_squad_file,
            empty_answers,
            version_2_with_negative=self._version_2_with_negative,
        )

    @property
    def required_squad_file(self) -> SquadFile:
        """The attribute `squad_file`, of a command that reads the dev set.

        Raises:
            ValueError: the dev set was not read.
        """
        if self.squad_file is None:
            raise ValueError("--predict_file was not read")
        return self.squad_file

    def _read_set(self, set_name: BaseSet) -> list[SquadExample]:
        """Reads the file of a set, and sets `squad_file` for a dev set."""
        squad_file = read_squad_file(self._files[set_name], self._layout)
        examples = read_squad_examples(
            squad_file,
            is_training=set_name == "train",
            version_2_with_negative=self._version_2_with_negative,
            use_char_offsets=self._use_char_offsets,
        )
        if set_name == "train":
            # Shuffle the questions as Google's code does. Then training needs
            # only a small buffer to shuffle the records.
            random.Random(12345).shuffle(examples)
        else:
            self.squad_file = squad_file
        return examples
