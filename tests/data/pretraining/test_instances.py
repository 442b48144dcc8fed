"""Instances and their masks, drawn by draws that a test gives or by a seed.

The tests are in the order of the functions in data/pretraining/instances.py.
tests/scripts/test_create_pretraining_data.py compares the instances with
Google's.
"""

import collections
import random

import pytest

from data.pretraining import instances
from data.pretraining.encoded_vocabulary import EncodedVocabulary
from data.pretraining.pretraining_options import InstanceOptions
from data.text.tokenization import REQUIRED_TOKENS

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

    def __init__(self, *draws):
        super().__init__()
        self.draws = collections.deque(draws)

    def random(self):
        draw = self.draws.popleft()
        assert 0.0 <= draw < 1.0
        return draw

    def randint(self, a, b):
        draw = self.draws.popleft()
        assert a <= draw <= b
        return draw

    def getrandbits(self, k):
        draw = self.draws.popleft()
        assert 0 <= draw < 1 << k
        return draw

    def choice(self, seq):
        return seq[self.draws.popleft()]


def encode_text(text):
    """Returns the WordPieces of a text, as instances contain them."""
    return [VOCABULARY[name] for name in text.split()]


def decode_tokens(tokens):
    """Returns the text of WordPieces."""
    names = {code: name for name, code in VOCABULARY.items()}
    return " ".join(names[token] for token in tokens)


def create_unmasked(documents, rng):
    """Returns (text, whether B is random) of each instance of document 0."""
    options = InstanceOptions(
        vocab_file="",
        max_seq_length=16,
        short_seq_prob=0.1,
        dynamic_masking=True,
    )
    created = instances.create_instances_from_document(
        [
            [encode_text(sentence) for sentence in document]
            for document in documents
        ],
        0,
        VOCABULARY,
        rng,
        options,
    )
    return [
        (decode_tokens(instance.tokens), instance.is_random_next)
        for instance in created
    ]


TWO_SENTENCES = ["dog un", "cat"]
OTHER_DOCUMENT = ["word1", "word2 word3"]
# The target is the whole length, and A is one of the two sentences.
NOT_SHORT = 0.1
ONE_SENTENCE = 1


def test_create_instances_from_document_makes_a_and_b_of_two_sentences():
    rng = ScriptedRandom(NOT_SHORT, ONE_SENTENCE, HALF)
    assert create_unmasked([TWO_SENTENCES, OTHER_DOCUMENT], rng) == [
        ("[CLS] dog un [SEP] cat [SEP]", False)
    ]
    assert not rng.draws


def test_create_instances_from_document_draws_b_from_another_document():
    """The sentence that B did not take becomes A, whose B is always random."""
    document = 1
    rng = ScriptedRandom(
        NOT_SHORT, ONE_SENTENCE, BELOW_HALF, document, 0, document, 1
    )
    assert create_unmasked([TWO_SENTENCES, OTHER_DOCUMENT], rng) == [
        ("[CLS] dog un [SEP] word1 word2 word3 [SEP]", True),
        ("[CLS] cat [SEP] word2 word3 [SEP]", True),
    ]
    assert not rng.draws


def test_create_instances_from_document_draws_again_after_its_own_document():
    own = 0
    rng = ScriptedRandom(NOT_SHORT, own, own, 1, 1)
    assert create_unmasked([["cat"], OTHER_DOCUMENT], rng) == [
        ("[CLS] cat [SEP] word2 word3 [SEP]", True)
    ]


def test_create_instances_from_document_uses_its_own_after_ten_draws():
    rng = ScriptedRandom(NOT_SHORT, *[0] * 10, 0)
    assert create_unmasked([["cat"], OTHER_DOCUMENT], rng) == [
        ("[CLS] cat [SEP] cat [SEP]", True)
    ]


def test_truncate_seq_pair_cuts_the_longer_sentence():
    first = collections.deque([1, 2, 3, 4, 5, 6])
    second = collections.deque([7, 8])
    instances.truncate_seq_pair(first, second, 4, random.Random(0))
    assert len(first) == 2
    assert [*second] == [7, 8]


def test_truncate_seq_pair_cuts_at_the_end_that_is_drawn():
    first = collections.deque([1, 2, 3, 4, 5])
    second = collections.deque([7])
    rng = ScriptedRandom(BELOW_HALF, HALF, HALF)
    instances.truncate_seq_pair(first, second, 3, rng)
    assert [*first] == [2, 3]
    assert [*second] == [7]


def mask_tokens(tokens, candidates, rng, **options):
    return instances.create_masked_lm_predictions(
        tokens,
        list(candidates),
        VOCABULARY,
        rng,
        InstanceOptions(vocab_file="", **options),
    )


def mask_text(text, rng, **options):
    """Returns (masked text, positions, text of the labels)."""
    tokens = encode_text(text)
    output, positions, labels = mask_tokens(
        tokens, range(1, len(tokens) - 1), rng, **options
    )
    return decode_tokens(output), positions, decode_tokens(labels)


def test_create_masked_lm_predictions_masks_keeps_or_replaces():
    """The thresholds are 0.8 for [MASK], and then 0.5 for no change."""
    order_as_before = [2, 1]
    cat = NAMES.index("cat")
    rng = ScriptedRandom(*order_as_before, 0.79, 0.8, 0.49, 0.8, 0.5, cat)
    masked = mask_text("[CLS] un dog runn [SEP]", rng, masked_lm_prob=0.6)
    assert masked == ("[CLS] [MASK] dog cat [SEP]", [1, 2, 3], "un dog runn")
    assert not rng.draws


def test_create_masked_lm_predictions_chooses_what_the_shuffle_puts_first():
    """Of three candidates, the first and the last change places."""
    rng = ScriptedRandom(0, 1, 0.0)
    masked = mask_text("[CLS] un dog runn [SEP]", rng, masked_lm_prob=0.2)
    assert masked == ("[CLS] un dog [MASK] [SEP]", [3], "runn")


def test_create_masked_lm_predictions_masks_at_least_one_wordpiece():
    rng = ScriptedRandom(0.0)
    masked = mask_text("[CLS] dog [SEP]", rng, masked_lm_prob=0.0)
    assert masked == ("[CLS] [MASK] [SEP]", [1], "dog")


# The draw of `shuffle` that leaves two words in their order.
SAME_ORDER = 1
WORD_OF_THREE = "[CLS] un ##want ##ed dog [SEP]"


def test_create_masked_lm_predictions_masks_all_wordpieces_of_a_word():
    rng = ScriptedRandom(SAME_ORDER, 0.0, 0.0, 0.0)
    masked = mask_text(
        WORD_OF_THREE, rng, masked_lm_prob=0.5, do_whole_word_mask=True
    )
    text = "[CLS] [MASK] [MASK] [MASK] dog [SEP]"
    assert masked == (text, [1, 2, 3], "un ##want ##ed")


def test_create_masked_lm_predictions_skips_a_word_that_is_too_long():
    """Two WordPieces are to be masked, and the first word has three."""
    rng = ScriptedRandom(SAME_ORDER, 0.0)
    masked = mask_text(
        WORD_OF_THREE, rng, masked_lm_prob=0.3, do_whole_word_mask=True
    )
    assert masked == ("[CLS] un ##want ##ed [MASK] [SEP]", [4], "dog")


@pytest.mark.parametrize(
    ("as_mask", "same"),
    [(0.8, 0.1), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.8, 0.2), (0.2, 0.3)],
)
def test_create_masked_lm_predictions_has_the_shares_of_the_papers_table_8(
    as_mask, same
):
    rng = random.Random(0)
    counts = collections.Counter()
    for seed in range(300):
        tokens = [
            VOCABULARY["[CLS]"],
            *rng.choices(VOCABULARY.words[4:], k=98),
            VOCABULARY["[SEP]"],
        ]
        output, positions, labels = mask_tokens(
            tokens,
            range(1, 99),
            random.Random(seed),
            mask_token_prob=as_mask,
            same_token_prob=same,
        )
        assert len(positions) == 15
        for position, label in zip(positions, labels, strict=True):
            token = output[position]
            is_mask = token == VOCABULARY["[MASK]"]
            counts["mask" if is_mask else token == label] += 1
    total = counts.total()
    # A random WordPiece is now and then [MASK] or the same.
    assert abs(counts["mask"] / total - as_mask) < 0.03
    assert abs(counts[True] / total - same) < 0.03


def test_shuffle_keeps_the_items():
    items = [*range(50)]
    instances.shuffle(items, random.Random(0))
    assert items != [*range(50)]
    assert sorted(items) == [*range(50)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 1000])
def test_shuffle_draws_as_pythons_own(count):
    ours, pythons = [*range(count)], [*range(count)]
    instances.shuffle(ours, random.Random(7))
    random.Random(7).shuffle(pythons)
    assert ours == pythons
