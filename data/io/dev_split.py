"""Splits the rows of one table into a train set and a dev set."""

import dataclasses
import random
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from files import flags
from files.paths import Kind


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataFileOptions:
    """Flags of scripts that split a single file of examples themselves."""

    data_file: str | None = flags.training(
        None,
        "One file of labeled examples, instead of --data_dir. The script "
        "splits it, trains, evaluates each epoch, reports, and exports the "
        "best step to OUTPUT_DIR_model, unless your flags say otherwise.",
        kind=Kind.INPUT_FILE,
    )
    dev_fraction: float = flags.training(
        0.2,
        "Fraction of --data_file to evaluate on.",
        at_least=0.01,
        at_most=0.9,
    )
    # Flags of every training script.
    seed: int = 12345
    given_flags: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def split_rows(
    texts: Sequence[Hashable],
    labels: Sequence[Hashable],
    dev_fraction: float,
    seed: int,
) -> tuple[list[int], list[int]]:
    """Returns the indices of the rows to train on, and of the dev set's rows.

    The dev set contains the same fraction of each label's rows. Rows with the
    same text stay together, so that the dev set contains no text of the train
    set. A label with only one text is only in the train set.

    Args:
        texts: the text of each row, or whatever may not be in both sets.
        labels: the label of each row. Equal for all rows if a row has several
            labels or a number.
        dev_fraction: fraction of the rows for the dev set.
        seed: seed of the random choice.

    Raises:
        ValueError: there are too few rows for a dev set.
    """
    groups: dict[Hashable, list[int]] = {}
    for row, text in enumerate(texts):
        groups.setdefault(text, []).append(row)
    by_label: dict[Hashable, list[list[int]]] = {}
    for rows in groups.values():
        by_label.setdefault(labels[rows[0]], []).append(rows)
    dev: list[int] = []
    # Number of rows that the dev set should contain. Carry the fractions of
    # rows from one label to the next.
    due = 0.0
    for label, found in by_label.items():
        random.Random(f"{seed} {label}").shuffle(found)
        due += dev_fraction * sum(map(len, found))
        for rows in found[1:]:
            if len(dev) + len(rows) / 2 <= due:
                dev += rows
    if not dev:
        raise ValueError(
            f"{len(texts)} rows are too few for a dev set of {dev_fraction:g} "
            "of them; add rows, or set --dev_fraction"
        )
    chosen = {*dev}
    train = [row for row in range(len(texts)) if row not in chosen]
    return train, sorted(dev)
