"""Cuts long texts into windows, each of which is an input of the network."""

from collections.abc import Iterable, Iterator, Sequence

from data.classification.classification_examples import InputExample
from data.classification.classification_features import ClassificationFeatures
from data.classification.label_numbers import encode_label
from data.text import token_windows
from data.text.tokenization import FullTokenizer


def create_window_features(
    examples: Iterable[InputExample],
    label_list: Sequence[str] | None,
    max_seq_length: int,
    tokenizer: FullTokenizer,
    doc_stride: int,
) -> Iterator[list[ClassificationFeatures]]:
    """Cuts texts into windows, and yields the list of each text's windows.

    For example, these are the two windows of a text with `doc_stride` 3:

        [CLS] a tug pulls the barge [SEP]
        [CLS] the barge past two piers [SEP]

    Each window of `max_seq_length` WordPieces gets the label of its text, and
    the weight 1 / (number of the text's windows). `examples` are single texts.
    """

    def windows_of(example: InputExample) -> list[ClassificationFeatures]:
        pieces = tokenizer.tokenize(example.text_a)
        # Create one window even for a text without WordPieces.
        spans = token_windows.cut_spans(
            max(len(pieces), 1), max_seq_length - 2, doc_stride
        )
        parts = [pieces[start : start + length] for start, length in spans]
        return [
            ClassificationFeatures(
                label_id=encode_label(example.label, label_list),
                weight=1 / len(spans),
                **tokenizer.create_inputs(
                    ["[CLS]", *part, "[SEP]"], len(part) + 2, max_seq_length
                ),
            )
            for part in parts
        ]

    return token_windows.log_num_cut(
        map(windows_of, examples),
        lambda windows: len(windows) > 1,
        f"texts were longer than --max_seq_length={max_seq_length} and were "
        f"split into windows (--doc_stride={doc_stride})",
    )
