"""Texts for predict.py to answer in tasks, and the files that it writes.

For example:

    write_texts(tmp_path / "in.txt", 100)
"""

import csv
import json
import random
from pathlib import Path
from typing import Any

WORDS = ["the", "boat", "of", "sea", "light", "harbor", "keeper", "storm"]


def make_text(rng: random.Random) -> str:
    """Returns a text of up to twelve words."""
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))


def write_texts(path: Path, number: int) -> None:
    """Writes a text in each line of a file."""
    rng = random.Random(5)
    path.write_text("".join(f"{make_text(rng)}\n" for _ in range(number)))


def shards_of(folder: Path, stem: str) -> dict[str, bytes]:
    """Returns {name without the stem: bytes} of the shards of an output."""
    return {
        path.name.removeprefix(stem): path.read_bytes()
        for path in sorted(folder.glob(f"{stem}-*-of-*"))
    }


def read_rows(folder: Path, stem: str) -> list[Any]:
    """Returns the rows of all shards of JSON lines."""
    parts = shards_of(folder, stem).values()
    return [json.loads(line) for part in parts for line in part.splitlines()]


def write_inputs(folder: Path) -> None:
    """Writes in.jsonl, and its first 200 rows in part-0.csv to part-3.csv.

    Row 7 has an empty text, and row 11 no text. Only row 1490 has the key
    "late", and only row 3 a "label" of its own, as all rows of part-2.csv.
    """
    rng = random.Random(3)
    rows = [{"id": i, "text": make_text(rng)} for i in range(1500)]
    rows[7]["text"] = ""
    rows[11]["text"] = 5
    rows[3]["label"] = "mine"
    rows[1490]["late"] = 'a "quoted" one'
    lines = [json.dumps(row) for row in rows]
    # Line 22 is no JSON, and blank lines are no rows.
    lines[20:20] = ["", "{"]
    (folder / "in.jsonl").write_text("\n".join(lines))
    for part in range(4):
        label = {"label": "mine"} if part == 2 else {}
        with (folder / f"part-{part}.csv").open("w") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "text", *label])
            for row in rows[part * 50 : part * 50 + 50]:
                writer.writerow([row["id"], row["text"], *label.values()])
