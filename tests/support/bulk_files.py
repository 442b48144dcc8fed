"""Texts for predict.py to answer in tasks, and the files that it writes."""

WORDS = ["the", "boat", "of", "sea", "light", "harbor", "keeper", "storm"]


def make_text(rng):
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))


def shards_of(folder, stem):
    """Returns {name without the stem: bytes} of the shards of an output."""
    return {
        path.name.removeprefix(stem): path.read_bytes()
        for path in sorted(folder.glob(f"{stem}-*-of-*"))
    }
