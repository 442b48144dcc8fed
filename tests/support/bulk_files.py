"""Texts for predict.py to answer in tasks, and the files that it writes."""

import random

WORDS = ["the", "boat", "of", "sea", "light", "harbor", "keeper", "storm"]


def make_text(rng):
    """Returns a text of up to twelve words."""
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))


def write_texts(path, number):
    """Writes a text in each line of a file."""
    rng = random.Random(5)
    path.write_text("".join(f"{make_text(rng)}\n" for _ in range(number)))


def shards_of(folder, stem):
    """Returns {name without the stem: bytes} of the shards of an output."""
    return {
        path.name.removeprefix(stem): path.read_bytes()
        for path in sorted(folder.glob(f"{stem}-*-of-*"))
    }
