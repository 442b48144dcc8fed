"""Reads the sets of run_squad.py, and holds them until the run takes them."""

import random
from typing import Self

from data.squad import answer_scoring
from data.squad.squad_examples import SquadExample, read_squad_examples
from data.squad.squad_questions import SquadFile, read_squad_file
from data.tables.table_formats import Layout


class SquadProcessor:
    """Holds the questions to train on, and those to answer.

    Args:
        squad_file: see the attribute.
        examples: {"train" or "eval": the questions of the split}.

    Attributes:
        squad_file: the questions and answers of --predict_file, None if the
            command does not read it.
    """

    def __init__(
        self,
        squad_file: SquadFile | None,
        examples: dict[str, list[SquadExample]],
    ) -> None:
        self.squad_file = squad_file
        self._examples = examples

    @classmethod
    def read(
        cls,
        train_file: str | None,
        predict_file: str | None,
        layout: Layout,
        *,
        version_2_with_negative: bool,
        use_char_offsets: bool,
        needs_answers: bool,
    ) -> Self:
        """Reads the questions at once.

        So the errors of the files show before TensorFlow is imported.

        Args:
            train_file: file of the questions to train on, None to read none.
            predict_file: file of the questions to answer, None to read none.
            layout: layout of files that are tables.
            version_2_with_negative: True if questions may have no answer.
            use_char_offsets: True to take the answers of the train file from
                their offsets, and not from the words around them.
            needs_answers: True if --predict_file must contain answers.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file is not in SQuAD's layout, or --predict_file
                contains no answers although they are needed.
        """
        squad_file: SquadFile | None = None
        examples_of: dict[str, list[SquadExample]] = {}
        if train_file:
            train_set = read_squad_examples(
                read_squad_file(train_file, layout),
                is_training=True,
                version_2_with_negative=version_2_with_negative,
                use_char_offsets=use_char_offsets,
            )
            # Shuffle the questions as Google's code does. Then training needs
            # only a small buffer to shuffle the records.
            random.Random(12345).shuffle(train_set)
            examples_of["train"] = train_set
        if predict_file:
            squad_file = read_squad_file(predict_file, layout)
            dev_set = read_squad_examples(
                squad_file,
                is_training=False,
                version_2_with_negative=version_2_with_negative,
                use_char_offsets=use_char_offsets,
            )
            examples_of["eval"] = dev_set
            if needs_answers:
                # Score empty predictions. If the file contains no answers,
                # this fails now, and not after an epoch.
                empty_answers = {example.qas_id: "" for example in dev_set}
                answer_scoring.score_predictions(
                    squad_file, empty_answers, version_2_with_negative
                )
        return cls(squad_file, examples_of)

    def take(self, split_name: str) -> list[SquadExample]:
        """Returns the questions of "train" or "eval", and releases them."""
        return self._examples.pop(split_name)
