"""Random draws that a test gives, and the WordPieces of pretraining instances.

For example:

    rng = ScriptedRandom(BELOW_HALF, HALF)
    assert rng.random() < 0.5 <= rng.random()
"""

import collections
import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from data.pretraining.documents import EncodedVocabulary
from data.text.vocabulary_files import REQUIRED_TOKENS

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

T = TypeVar("T")

WORDS = ["un", "##want", "##ed", "dog", "runn", "##ing", "cat"]
NAMES = [*REQUIRED_TOKENS, *WORDS, *(f"word{i}" for i in range(1000))]
VOCABULARY = EncodedVocabulary(
    {name: index for index, name in enumerate(NAMES)}
)
# Draws of `ScriptedRandom.random`, for the probability of 0.5.
BELOW_HALF = 0.49
HALF = 0.5


class ScriptedRandom(random.Random):
    """Returns the given draws, in order, whatever is asked for.

    `choice` takes the index of the item. A draw that is out of bounds, or one
    too many, fails the test.
    """

    def __init__(self, *draws: float) -> None:
        super().__init__()
        self.draws = collections.deque(draws)

    def random(self) -> float:
        draw = self.draws.popleft()
        assert 0.0 <= draw < 1.0
        return draw

    def randint(self, a: int, b: int) -> int:
        draw = int(self.draws.popleft())
        assert a <= draw <= b
        return draw

    def getrandbits(self, k: int) -> int:
        draw = int(self.draws.popleft())
        assert 0 <= draw < 1 << k
        return draw

    def choice(self, seq: "SupportsLenAndGetItem[T]") -> T:
        return seq[int(self.draws.popleft())]


def encode_text(text: str) -> list[bytes]:
    """Returns the WordPieces of a text, as instances contain them."""
    return [VOCABULARY[name] for name in text.split()]


def decode_tokens(tokens: Iterable[bytes]) -> str:
    """Returns the text of WordPieces."""
    names = {code: name for name, code in VOCABULARY.items()}
    return " ".join(names[token] for token in tokens)
