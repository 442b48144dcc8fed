"""Writes small data sets of tasks. A test set with labels is the dev set.

For example:

    write_regression(tmp_path / "sts")
"""

import random
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.support.tables.csv_files import write_csv

# A byte order mark comes first, as Excel writes it.
EXCEL = "utf-8-sig"

WORDS = {"red": "the river is red", "blue": "a blue boat on the water"}
SENTENCES = [
    ["The O", "river I-LOC", "runs O"],
    ["A O", "boat I-ORG", "house I-ORG", "burns O", ". O"],
    ["Blue I-LOC", "red B-LOC", "water O"],
]
SUBJECTS = ["The river", "A boat", "Water", "The sky"]
ENDINGS = ["is red.", "is blue and the boat sails.", "runs.", "was old."]
FILLING = "the boat and the sea at noon in the harbor of the river"


def write_tsv(
    path: Path, header: Sequence[object], rows: Iterable[Sequence[object]]
) -> None:
    """Writes rows below a header, between tabs."""
    path.parent.mkdir(exist_ok=True)
    lines = ["\t".join(map(str, row)) for row in [header, *rows]]
    path.write_text("\n".join(lines) + "\n")


def write_regression(folder: Path) -> None:
    """Writes the sets of a task in the layout of GLUE's STS-B."""
    for name, count in (("train", 16), ("dev", 8), ("test", 3)):
        header = ["index", "sentence1", "sentence2", "score"]
        rows: list[tuple[object, ...]] = [
            (
                index,
                WORDS["red"],
                WORDS["red" if index % 2 else "blue"],
                5.0 * (index % 2),
            )
            for index in range(count)
        ]
        if name == "test":
            header = header[:3]
            rows = [row[:3] for row in rows]
        write_tsv(folder / f"{name}.tsv", header, rows)


def write_mnli(folder: Path) -> None:
    """Writes the sets of a task in the layout of MultiNLI."""
    header = [f"column{index}" for index in range(8)] + [
        "sentence1",
        "sentence2",
    ]
    labels = ("contradiction", "entailment", "neutral")
    sizes = {"train": 12, "dev_matched": 6, "dev_mismatched": 3}
    for name, count in sizes.items():
        rows = [
            [index, *"-------", WORDS["red"], WORDS["blue"], labels[index % 3]]
            for index in range(count)
        ]
        write_tsv(folder / f"{name}.tsv", [*header, "gold_label"], rows)
    write_tsv(
        folder / "diagnostic.tsv",
        ["index", "sentence1", "sentence2"],
        [(index, WORDS["red"], WORDS["blue"]) for index in range(2)],
    )


def write_table(folder: Path) -> None:
    """Writes a multi-label task as CSV files with quotes and commas."""
    for name, count in (("train", 16), ("dev", 8), ("test", 8)):
        rows = []
        for index in range(count):
            colours = [list(WORDS)[index % 2]] if index % 3 else list(WORDS)
            text = ", ".join(WORDS[colour] for colour in colours)
            rows.append(["|".join(colours), index, f'the "{text}"'])
        header = ["colours", "id", "review"]
        write_csv(folder / f"{name}.csv", header, rows, EXCEL)


def write_long_texts(folder: Path) -> None:
    """Writes texts of 16 to 40 words, whose last word alone is the label."""
    draw = random.Random(0)
    for name, count in (("train", 96), ("dev", 40)):
        rows = []
        for _ in range(count):
            label = draw.choice(["red", "blue"])
            words = draw.choices(FILLING.split(), k=draw.randint(16, 40))
            rows.append((f"{' '.join(words)} {label}", label))
        write_csv(folder / f"{name}.csv", ["text", "label"], rows, EXCEL)
    shutil.copy(folder / "dev.csv", folder / "test.csv")


def write_entities(path: Path, count: int, with_tags: bool = True) -> None:
    """Writes a file in CoNLL-2003's layout."""
    lines = ["-DOCSTART- -X- -X- O", ""]
    for index in range(count):
        for word in SENTENCES[index % 3]:
            text, tag = word.split()
            lines.append(f"{text} NN I-NP {tag}" if with_tags else text)
        lines.append("")
    path.write_text("\n".join(lines) + "\n")


def write_entity_sets(folder: Path) -> None:
    """Writes the train, dev and test sets of `write_entities`."""
    for name, count in (("train", 48), ("valid", 9), ("test", 9)):
        write_entities(folder / f"{name}.txt", count)


def write_swag(path: Path, count: int) -> None:
    """The right ending is always the second sentence's own."""
    draw = random.Random(count)
    rows = []
    for index in range(count):
        order = draw.sample(range(4), 4)
        row = [
            index,
            f"video{index}",
            f'He said: "{SUBJECTS[index % 4]}, there".',
        ]
        row += [SUBJECTS[index % 4], *(ENDINGS[place] for place in order)]
        rows.append([*row, order.index(index % 4)])
    header = ["", "video-id", "sent1", "sent2"]
    header += [f"ending{index}" for index in range(4)]
    write_csv(path, [*header, "label"], rows, EXCEL)


def write_swag_sets(folder: Path) -> None:
    """Writes the train, dev and test sets of `write_swag`."""
    for name, count in (("train", 32), ("val", 10), ("test", 10)):
        write_swag(folder / f"{name}.csv", count)
