"""Writes small data sets of GLUE tasks, and of a user's own task."""

import csv

WORDS = {"red": "the river is red", "blue": "a blue boat on the water"}


def write_tsv(path, header, rows):
    path.parent.mkdir(exist_ok=True)
    lines = ["\t".join(map(str, row)) for row in [header, *rows]]
    path.write_text("\n".join(lines) + "\n")


def write_regression(folder):
    for name, count in (("train", 16), ("dev", 8), ("test", 3)):
        header = ["index", "sentence1", "sentence2", "score"]
        rows = [
            (i, WORDS["red"], WORDS["red" if i % 2 else "blue"], 5.0 * (i % 2))
            for i in range(count)
        ]
        if name == "test":
            header, rows = header[:3], [row[:3] for row in rows]
        write_tsv(folder / f"{name}.tsv", header, rows)


def write_mnli(folder):
    header = [f"column{i}" for i in range(8)] + ["sentence1", "sentence2"]
    labels = ("contradiction", "entailment", "neutral")
    for name, count in (
        ("train", 12),
        ("dev_matched", 6),
        ("dev_mismatched", 3),
    ):
        rows = [
            [i, *"-------", WORDS["red"], WORDS["blue"], labels[i % 3]]
            for i in range(count)
        ]
        write_tsv(folder / f"{name}.tsv", [*header, "gold_label"], rows)
    write_tsv(
        folder / "diagnostic.tsv",
        ["index", "sentence1", "sentence2"],
        [(i, WORDS["red"], WORDS["blue"]) for i in range(2)],
    )


def write_table(folder):
    """Writes a multi-label task as CSV files with quotes, commas and a BOM."""
    folder.mkdir(exist_ok=True)
    for name, count in (("train", 16), ("dev", 8), ("test", 3)):
        path = folder / f"{name}.csv"
        with open(path, "w", encoding="utf-8-sig", newline="") as writer:
            table = csv.writer(writer)
            table.writerow(["colours", "id", "review"])
            for i in range(count):
                colours = [list(WORDS)[i % 2]] if i % 3 else list(WORDS)
                text = ", ".join(WORDS[colour] for colour in colours)
                table.writerow(["|".join(colours), i, f'the "{text}"'])
