"""Instances of documents, drawn by draws that a test gives.

The tests are in the order of the functions in data/pretraining/instances.py.
tests/scripts/test_create_pretraining_data.py compares the instances with
Google's.
"""

import collections
import random

from data.pretraining import instances
from data.pretraining.instances import InstanceCreator
from data.pretraining.pretraining_options import InstanceOptions
from tests.support.scripted_draws import (
    BELOW_HALF,
    HALF,
    VOCABULARY,
    ScriptedRandom,
    decode_tokens,
    encode_text,
)


def create_unmasked(documents, rng):
    """Returns (text, whether B is random) of each instance of document 0."""
    options = InstanceOptions(
        vocab_file="",
        max_seq_length=16,
        short_seq_prob=0.1,
        dynamic_masking=True,
    )
    creator = InstanceCreator(VOCABULARY, options, rng)
    created = creator.create_instances_from_document(
        [
            [encode_text(sentence) for sentence in document]
            for document in documents
        ],
        0,
    )
    return [
        (decode_tokens(instance.tokens), instance.is_random_next)
        for instance in created
    ]


TWO_SENTENCES = ["dog un", "cat"]
OTHER_SENTENCES = ["word1", "word2 word3"]
# What create_instances_from_document draws, in this order. Once a document:
# 0.1 is not below `short_seq_prob`, so the target is the whole length.
NOT_SHORT = 0.1
# For each instance: how many sentences segment A has, and whether segment B
# continues A. If only one sentence is left, B is random, and neither is drawn.
ONE_SENTENCE = 1
B_CONTINUES = HALF
B_IS_RANDOM = BELOW_HALF
# For a random segment B: its document, and the sentence that it begins with.
OWN_DOCUMENT, OTHER_DOCUMENT = 0, 1
FIRST_SENTENCE, SECOND_SENTENCE = 0, 1


def test_two_sentences_of_a_document_become_segments_a_and_b():
    rng = ScriptedRandom(NOT_SHORT, ONE_SENTENCE, B_CONTINUES)
    assert create_unmasked([TWO_SENTENCES, OTHER_SENTENCES], rng) == [
        ("[CLS] dog un [SEP] cat [SEP]", False)
    ]
    assert not rng.draws


def test_a_random_segment_b_is_of_another_document():
    """The sentence that B did not take becomes A, whose B is always random."""
    first_b = [B_IS_RANDOM, OTHER_DOCUMENT, FIRST_SENTENCE]
    second_b = [OTHER_DOCUMENT, SECOND_SENTENCE]
    rng = ScriptedRandom(NOT_SHORT, ONE_SENTENCE, *first_b, *second_b)
    assert create_unmasked([TWO_SENTENCES, OTHER_SENTENCES], rng) == [
        ("[CLS] dog un [SEP] word1 word2 word3 [SEP]", True),
        ("[CLS] cat [SEP] word2 word3 [SEP]", True),
    ]
    assert not rng.draws


def test_a_random_segment_b_draws_again_after_its_own_document():
    draws = [OWN_DOCUMENT, OWN_DOCUMENT, OTHER_DOCUMENT, SECOND_SENTENCE]
    rng = ScriptedRandom(NOT_SHORT, *draws)
    assert create_unmasked([["cat"], OTHER_SENTENCES], rng) == [
        ("[CLS] cat [SEP] word2 word3 [SEP]", True)
    ]


def test_a_random_segment_b_is_of_the_own_document_after_ten_draws():
    draws = [*[OWN_DOCUMENT] * 10, FIRST_SENTENCE]
    rng = ScriptedRandom(NOT_SHORT, *draws)
    assert create_unmasked([["cat"], OTHER_SENTENCES], rng) == [
        ("[CLS] cat [SEP] cat [SEP]", True)
    ]


def test_truncate_seq_pair_cuts_the_longer_sentence():
    first = collections.deque([1, 2, 3, 4, 5, 6])
    second = collections.deque([7, 8])
    instances.truncate_seq_pair(first, second, 4, random.Random(0))
    assert len(first) == 2
    assert [*second] == [7, 8]


def test_truncate_seq_pair_cuts_the_beginning_or_the_end_as_drawn():
    first = collections.deque([1, 2, 3, 4, 5])
    second = collections.deque([7])
    first_token, last_token = BELOW_HALF, HALF
    rng = ScriptedRandom(first_token, last_token, last_token)
    instances.truncate_seq_pair(first, second, 3, rng)
    assert [*first] == [2, 3]
    assert [*second] == [7]
