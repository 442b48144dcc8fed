"""Questions about small passages: their examples and their windows.

For example:

    examples, windows = create_windows(tmp_path, tokenizer, "The boat.")
"""

import dataclasses

from data.squad import passage_windows
from data.squad.squad_examples import read_squad_examples
from data.squad.squad_options import WindowOptions
from data.squad.squad_questions import read_squad_file
from tests.support.squad.squad_files import write_squad

OPTIONS = WindowOptions(max_seq_length=12, doc_stride=4, max_query_length=4)


def read_examples(folder, questions, context, training=True, **options):
    """Writes questions about a passage, and returns their examples."""
    path = write_squad(folder / "squad.json", questions, context)
    return read_squad_examples(read_squad_file(path), training, **options)


def create_windows(
    folder, tokenizer, context, *answers, training=False, **options
):
    """Returns the examples and the windows of a passage with one question."""
    examples = read_examples(folder, [[*answers]], context, training)
    options = dataclasses.replace(OPTIONS, **options)
    windows = passage_windows.create_squad_features(
        examples, tokenizer, options, training
    )
    return examples, list(windows)
