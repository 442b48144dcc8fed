"""Reads and holds the sets of run_squad.py."""

import random
from collections.abc import Mapping

from data.sets.held_sets import HeldSets
from data.sets.set_names import BaseSet
from data.squad.answer_scoring import GoldAnswers, collect_gold_answers
from data.squad.squad_examples import SquadExample, read_squad_examples
from data.squad.squad_questions import SquadFile, read_squad_file
from data.tables.table_layout import TableLayout
from files.paths import StrPath


class SquadSets(HeldSets[SquadExample]):
    """Reads the questions to train on, and the questions to answer.

    Args:
        train_file: file of the questions to train on, None without training.
        predict_file: file of the questions to answer, None without a dev set.
        layout: layout of a file that is a table.
        version_2_with_negative: True if questions may have no answer.
        use_char_offsets: True to take the answers of the train set from their
            offsets, and not from the words around them.

    Attributes:
        predict_file: file of the questions to answer.
    """

    def __init__(
        self,
        train_file: StrPath | None,
        predict_file: StrPath | None,
        layout: TableLayout,
        *,
        version_2_with_negative: bool,
        use_char_offsets: bool,
    ) -> None:
        super().__init__()
        self.predict_file = predict_file
        # The content of `predict_file`, and the right answers in it, None until
        # they are read.
        self._predict_questions: SquadFile | None = None
        self._gold_answers: GoldAnswers | None = None
        self._train_file = train_file
        self._layout = layout
        self._version_2_with_negative = version_2_with_negative
        self._use_char_offsets = use_char_offsets

    def read_predict_file(self) -> SquadFile:
        """Returns the questions to answer, and their right answers.

        The first call reads the file.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is malformed, or the command has no dev set.
        """
        if self.predict_file is None:
            raise ValueError("--predict_file was not read")
        if self._predict_questions is None:
            self._predict_questions = read_squad_file(
                self.predict_file, self._layout
            )
        return self._predict_questions

    def read_gold_answers(self) -> GoldAnswers:
        """Returns the right answers of the questions to answer.

        They are held, because each evaluation compares with them, and to
        collect them each time would be slow.

        Raises:
            NoGoldAnswersError: the file contains no right answers.
            ValueError: the file is malformed, or the command has no dev set.
            OSError: the file cannot be read.
        """
        if self._gold_answers is None:
            self._gold_answers = collect_gold_answers(
                self.read_predict_file(),
                version_2_with_negative=self._version_2_with_negative,
            )
        return self._gold_answers

    def read_sets(
        self, set_name: BaseSet
    ) -> Mapping[BaseSet, list[SquadExample]]:
        """Reads the questions of a set, those to train on in random order."""
        if set_name == "train":
            return {set_name: self._read_train_file()}
        examples = self._create_examples(
            self.read_predict_file(), is_training=False
        )
        return {set_name: examples}

    def _read_train_file(self) -> list[SquadExample]:
        """Reads the questions to train on, and shuffles them."""
        if self._train_file is None:
            raise ValueError("--train_file is not set")
        train_file = read_squad_file(self._train_file, self._layout)
        examples = self._create_examples(train_file, is_training=True)
        # Shuffle the questions as Google's code does. Then training needs only
        # a small buffer to shuffle the records.
        random.Random(12345).shuffle(examples)
        return examples

    def _create_examples(
        self, file: SquadFile, *, is_training: bool
    ) -> list[SquadExample]:
        return read_squad_examples(
            file,
            is_training=is_training,
            version_2_with_negative=self._version_2_with_negative,
            use_char_offsets=self._use_char_offsets,
        )
