"""Reads the sets of run_squad.py, and holds them until the run takes them."""

import random

from data.squad import answer_scoring
from data.squad.squad_examples import SquadExample, read_squad_examples
from data.squad.squad_questions import SquadFile
from data.tables.table_formats import Layout


class SquadReader:
    """Reads the questions to train on, and those to answer.

    The files are read at once, so that their errors show before TensorFlow is
    imported.

    Args:
        train_file: file of the questions to train on, None to read none.
        predict_file: file of the questions to answer, None to read none.
        layout: layout of files that are tables.
        version_2_with_negative: True if questions may have no answer.
        use_char_offsets: True to take the answers of the train file from their
            offsets, and not from the words around them.
        needs_answers: True if --predict_file must contain answers.

    Attributes:
        asked: the questions and answers of --predict_file, None if the command
            does not read it.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is not in SQuAD's layout, or --predict_file contains
            no answers although they are needed.
    """

    def __init__(
        self,
        train_file: str | None,
        predict_file: str | None,
        layout: Layout,
        *,
        version_2_with_negative: bool,
        use_char_offsets: bool,
        needs_answers: bool,
    ) -> None:
        self.asked: SquadFile | None = None
        self._examples: dict[str, list[SquadExample]] = {}
        if train_file:
            examples = read_squad_examples(
                SquadFile(train_file, layout),
                is_training=True,
                version_2_with_negative=version_2_with_negative,
                use_char_offsets=use_char_offsets,
            )
            # Shuffle the questions as Google's code does. Then training needs
            # only a small buffer to shuffle the records.
            random.Random(12345).shuffle(examples)
            self._examples["train"] = examples
        if predict_file:
            self.asked = SquadFile(predict_file, layout)
            examples = read_squad_examples(
                self.asked,
                is_training=False,
                version_2_with_negative=version_2_with_negative,
                use_char_offsets=use_char_offsets,
            )
            self._examples["eval"] = examples
            if needs_answers:
                # Score empty predictions. If the file contains no answers,
                # this fails now, and not after an epoch.
                nothing = {example.qas_id: "" for example in examples}
                answer_scoring.score_predictions(
                    self.asked, nothing, version_2_with_negative
                )

    def take(self, split: str) -> list[SquadExample]:
        """Returns the questions of "train" or "eval", and releases them."""
        return self._examples.pop(split)
