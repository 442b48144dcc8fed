"""Questions about small passages: their examples and their windows.

For example:

    examples, windows = create_windows(tmp_path, tokenizer, "The boat.")
"""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from data.squad.passage_windows import SquadFeatures, create_squad_features
from data.squad.squad_examples import SquadExample, read_squad_examples
from data.squad.squad_options import WindowOptions
from data.squad.squad_questions import read_squad_file
from data.text.tokenization import FullTokenizer
from tests.support.squad.squad_files import Question, write_squad

OPTIONS = WindowOptions(max_seq_length=12, doc_stride=4, max_query_length=4)


def read_examples(
    folder: Path,
    questions: Iterable[Question],
    context: str,
    training: bool = True,
    **options: Any,
) -> list[SquadExample]:
    """Writes questions about a passage, and returns their examples."""
    path = write_squad(folder / "squad.json", questions, context)
    return read_squad_examples(
        read_squad_file(path), is_training=training, **options
    )


def create_windows(
    folder: Path,
    tokenizer: FullTokenizer,
    context: str,
    *answers: tuple[int, str],
    training: bool = False,
    **options: Any,
) -> tuple[list[SquadExample], list[SquadFeatures]]:
    """Returns the examples and the windows of a passage with one question."""
    examples = read_examples(folder, [[*answers]], context, training)
    windowing = dataclasses.replace(OPTIONS, **options)
    windows = create_squad_features(examples, tokenizer, windowing, training)
    return examples, list(windows)
