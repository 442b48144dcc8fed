"""Reads the recorded cases of SQuAD.

For example:

    @pytest.mark.parametrize("case", CASES)
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from data.squad import passage_windows_graph
from data.squad.passage_windows import SquadFeatures, create_squad_features
from data.squad.squad_examples import SquadExample, read_squad_examples
from data.squad.squad_options import DecodingOptions, WindowOptions
from data.squad.squad_questions import read_squad_file
from data.text import tokenization
from data.text.token_windows_graph import Windows
from tests.support import golden

# A case of cases.json, and the folder of its files.
Case: TypeAlias = Mapping[str, Any]

CASES = golden.case_params("squad")


def window_options(case: Case) -> WindowOptions:
    """Returns how a case cuts its passages."""
    return WindowOptions(
        case["max_seq_length"], case["doc_stride"], case["max_query_length"]
    )


def decoding_options(case: Case) -> DecodingOptions:
    """Returns how a case chooses its answers."""
    return DecodingOptions(
        case["n_best_size"],
        case["max_answer_length"],
        case["version_2_with_negative"],
        case.get("null_score_diff_threshold", 0.0),
    )


def load_tokenizer(case: Case) -> tokenization.FullTokenizer:
    """Returns the tokenizer of a case."""
    return tokenization.FullTokenizer(
        case["folder"] / case["vocab_file"], case["do_lower_case"]
    )


def load_case(
    case: Case, file_key: str, is_training: bool
) -> tuple[
    list[SquadExample],
    list[SquadFeatures],
    dict[str, NDArray[Any]],
]:
    """Returns a case's examples, its features and what was recorded."""
    folder, tokenizer = case["folder"], load_tokenizer(case)
    examples = read_squad_examples(
        read_squad_file(folder / case[file_key]),
        is_training=is_training,
        version_2_with_negative=case["version_2_with_negative"],
    )
    features = list(
        create_squad_features(
            examples, tokenizer, window_options(case), is_training
        )
    )
    with np.load(folder / case["features"]) as recorded:
        return examples, features, dict(recorded)


def create_graph_windows(
    tokenizer: tokenization.FullTokenizer,
    options: WindowOptions,
    pairs: Sequence[tuple[str, str]],
) -> tuple[Windows, passage_windows_graph.Passages]:
    """Returns the windows and passages that the graph creates.

    `pairs` are pairs of a question and its passage.
    """
    questions, contexts = zip(*pairs, strict=True)
    return passage_windows_graph.create_windows(
        tokenizer.layer, options, tf.stack(questions), tf.stack(contexts)
    )


def windows_of_case(
    case: Case, examples: Sequence[SquadExample]
) -> tuple[Windows, passage_windows_graph.Passages]:
    """Returns the windows and passages of a case's examples, by the graph."""
    return create_graph_windows(
        load_tokenizer(case),
        window_options(case),
        [(example.question_text, example.context) for example in examples],
    )
