"""The vocabulary, options and random draws with which instances are created."""

import random
from typing import NamedTuple

from data.pretraining.encoded_vocabulary import EncodedVocabulary
from data.pretraining.pretraining_options import InstanceOptions


class InstanceContext(NamedTuple):
    """The arguments that all functions share which create or mask instances.

    Attributes:
        vocabulary: the WordPieces, with the bytes that encode them.
        options: the lengths and probabilities.
        rng: generator of the random draws, in the order of Google's code.
    """

    vocabulary: EncodedVocabulary
    options: InstanceOptions
    rng: random.Random
