"""Texts for tokenizers: recorded and random ones.

For example:

    texts = random_strings(1500, seed=4)
"""

import gzip
import json
import random
import sys
import unicodedata
from pathlib import Path

from data.text import tokenization

ASSIGNED = [
    chr(cp)
    for cp in range(sys.maxunicode + 1)
    if unicodedata.category(chr(cp)) not in ("Cn", "Cs", "Co")
]


def random_strings(count: int, seed: int) -> list[str]:
    """Strings over all assigned code points, half of them ASCII and marks."""
    rng = random.Random(seed)
    near = [char for char in ASSIGNED if ord(char) < 0x600]
    return [
        "".join(
            rng.choice(near if rng.random() < 0.5 else ASSIGNED)
            for _ in range(rng.randint(0, 30))
        )
        for _ in range(count)
    ]


def load_recorded(
    path: Path, casing: str
) -> tuple[tokenization.FullTokenizer, list[str], list[list[int]]]:
    """Returns the tokenizer of a recording, the texts and their ids."""
    recorded = json.loads(gzip.decompress(path.read_bytes()))
    vocab = path.parent.parent / "vocab" / f"{casing}.txt"
    tokenizer = tokenization.FullTokenizer(vocab, casing == "uncased")
    return tokenizer, recorded["text"], recorded[f"{casing}_ids"]
