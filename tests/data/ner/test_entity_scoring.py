"""Entities in tags of any scheme, and conlleval's scores of them."""

import random

import pytest

from data.ner import entity_scoring
from model_folders.scores import LabelScores


@pytest.mark.parametrize(
    ("tags", "entities"),
    [
        ("I-X-Y I-X-Y", [("X-Y", 0, 2)]),
        # conlleval.pl has no rule for what follows E or S here.
        ("B-A E-A S-A B-A", [("A", 0, 4)]),
        # Files with one type of entity may leave it out.
        ("B I O B B", [("", 0, 2), ("", 3, 4), ("", 4, 5)]),
        # Tags that are types, as of models from elsewhere.
        ("PER PER LOC O", [("PER", 0, 2), ("LOC", 2, 3)]),
    ],
)
def test_tags_become_entities(tags, entities):
    assert entity_scoring.list_entities(tags.split()) == entities


def random_entities(rng, num_words):
    """Returns (type, start, end) of some words, side by side or apart."""
    entities = []
    start = 0
    while start < num_words:
        end = min(start + rng.randint(1, 3), num_words)
        if rng.random() < 0.7:
            entities.append((rng.choice(["A", "B-C"]), start, end))
        start = end
    return entities


def tag_entities(entities, num_words, prefixes):
    """Tags the first, middle, last and lone words of entities."""
    first, middle, last, lone = prefixes
    tags = ["O"] * num_words
    for name, start, end in entities:
        word_prefixes = [first, *[middle] * (end - start - 2), last]
        if end - start == 1:
            word_prefixes = [lone]
        for word_index, prefix in enumerate(word_prefixes, start):
            tags[word_index] = f"{prefix}-{name}"
    return tags


SCHEMES = {
    "IOB2": "BIIB",
    "IOE2": "IIEE",
    "IOBES": "BIES",
    "BILOU": "BILU",
    "BIO with S": "BIIS",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_tags_of_each_scheme_are_read_as_they_are_meant(scheme):
    rng = random.Random(scheme)
    for _ in range(2000):
        num_words = rng.randint(0, 9)
        entities = random_entities(rng, num_words)
        tags = tag_entities(entities, num_words, SCHEMES[scheme])
        iob2 = entity_scoring.to_scheme(tags)
        assert iob2 == tag_entities(entities, num_words, "BIIB")
        assert entity_scoring.list_entities(iob2) == entities
        for prefixes in ("BIES", "BILU"):
            labels = ["O", *(f"{prefix}-A" for prefix in prefixes)]
            expected = tag_entities(entities, num_words, prefixes)
            assert entity_scoring.to_scheme(tags, labels) == expected


# The pairs of prefixes, of neighbouring tags of one type, between which
# conlleval.pl sees an entity end, and begin.
ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
BEGINS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}


def count_as_conlleval(gold, predicted):
    """Counts entities in one pass over the tags, without listing them.

    Returns:
        (gold, found, correct) numbers.
    """
    counts = [0, 0, 0]
    is_correct = False
    before = [("O", ""), ("O", "")]
    for pair in zip([*gold, "O"], [*predicted, "O"], strict=True):
        now = [tag.partition("-")[::2] for tag in pair]
        ends = []
        begins = []
        for (old, old_type), (new, new_type) in zip(before, now, strict=True):
            changes = old_type != new_type
            ends.append(old + new in ENDS or (old != "O" and changes))
            begins.append(old + new in BEGINS or (new != "O" and changes))
        if is_correct and all(ends) and before[0][1] == before[1][1]:
            counts[2] += 1
            is_correct = False
        elif ends[0] != ends[1] or now[0][1] != now[1][1]:
            is_correct = False
        if all(begins) and now[0][1] == now[1][1]:
            is_correct = True
        counts[0] += begins[0]
        counts[1] += begins[1]
        before = now
    return counts


def test_scores_of_any_tags_are_those_of_conlleval():
    rng = random.Random(7)
    tags = ["O", *(f"{prefix}-{name}" for prefix in "BIESLU" for name in "XY")]
    for _ in range(20000):
        gold = rng.choices(tags, k=rng.randint(1, 6))
        predicted = [
            tag if rng.random() < 0.7 else rng.choice(tags) for tag in gold
        ]
        num_gold, num_found, correct = count_as_conlleval(gold, predicted)
        scores = entity_scoring.score_entities([gold], [predicted]).overall
        assert scores["precision"] == (correct / num_found if correct else 0)
        assert scores["recall"] == (correct / num_gold if correct else 0)


def test_scores_are_those_of_conlleval():
    # What conlleval says of these: 9 tokens, 4 phrases, found 5, correct 2;
    # accuracy 66.67%, precision 40.00%, recall 50.00%, FB1 44.44;
    # LOC 1 of 2 found and of 1; PER 1 of 3 found and of 3.
    gold = ["B-PER I-PER O B-LOC", "B-PER B-PER I-PER", "O O"]
    predicted = ["B-PER I-PER B-LOC B-LOC", "B-PER I-PER I-PER", "B-PER O"]
    scores = entity_scoring.score_entities(
        [tags.split() for tags in gold], [tags.split() for tags in predicted]
    )
    assert scores.overall == pytest.approx(
        {"accuracy": 6 / 9, "precision": 2 / 5, "recall": 2 / 4, "f1": 4 / 9}
    )
    assert scores.by_label == [
        LabelScores("LOC", 1 / 2, 1.0, 2 / 3, support=1),
        LabelScores("PER", 1 / 3, 1 / 3, 1 / 3, support=3),
    ]
