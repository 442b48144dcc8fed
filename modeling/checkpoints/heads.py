"""Names of heads, and the order of their labels."""

import re
import unicodedata
from collections.abc import Collection, Sequence

from modeling.checkpoints.huggingface import CLASSES

# transformers' class: ours.
ARCHITECTURES = {theirs: ours for ours, theirs in CLASSES.items()}
ARCHITECTURES["BertForMaskedLM"] = "BertPretrainer"


def has_head(name: str, weights: Collection[str]) -> bool:
    """Returns whether a file's weights, in either format, include a head.

    Args:
        name: class of the model.
        weights: names of the weights in a file.
    """
    if name == "BertEmbedder":
        # Its vectors are the encoder's.
        return True
    names = {"output_weights", "classifier.weight"}
    if name == "BertSpanLabeler":
        names = {"cls/squad/output_weights", "qa_outputs.weight"}
    return not names.isdisjoint(weights)


def find_order(
    saved: Sequence[str], labels: Sequence[Sequence[str]]
) -> list[int] | None:
    """Returns the place of each label among the labels of a saved model.

    Compares the exact names first, then without case and punctuation.

    Args:
        saved: names of the saved model's outputs, in order.
        labels: see `load_checkpoint`.

    Returns:
        a permutation; None if the names are others.
    """
    for form in (str, _plain):
        places = {form(name): index for index, name in enumerate(saved)}
        for names in labels:
            wanted = [form(name) for name in names]
            if len(places) == len(saved) and sorted(wanted) == sorted(places):
                return [places[name] for name in wanted]
    return None


def _plain(label: str) -> str:
    label = unicodedata.normalize("NFKC", label).casefold()
    return re.sub(r"[\W_]+", "_", label).strip("_")
