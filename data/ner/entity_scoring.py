"""Finds named entities in tags, and scores them as conlleval does.

A tag is `O`, or PREFIX-TYPE. If all entities are of one type, tags may omit the
type: `B`, `I`, `O`. The schemes tag two adjacent entities as follows:

    words   Jim    Henson was in New    York   Paris
    IOB1    I-PER  I-PER  O   O  I-LOC  I-LOC  B-LOC
    IOB2    B-PER  I-PER  O   O  B-LOC  I-LOC  B-LOC
    IOE2    I-PER  E-PER  O   O  I-LOC  E-LOC  E-LOC
    IOBES   B-PER  E-PER  O   O  B-LOC  E-LOC  S-LOC    also called BIOES
    BILOU   B-PER  L-PER  O   O  B-LOC  L-LOC  U-LOC
    BMES    B-PER  E-PER  O   O  B-LOC  E-LOC  S-LOC    M- in longer entities
"""

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from model_folders.scores import LabelScores, Scores

# Pairs of prefixes. If two neighboring tags of one type have these prefixes,
# conlleval.pl begins a new entity at the second tag.
_CONLLEVAL_BEGINS = {"BB", "IB", "EE", "EI"}


class Entity(NamedTuple):
    """A named entity in a sentence.

    Attributes:
        entity_type: its type, "" if the tags name none.
        start: index of the first word.
        end: index after the last word.
    """

    entity_type: str
    start: int
    end: int


def list_entities(tags: Sequence[str]) -> list[Entity]:
    """Returns the entities that conlleval.pl finds in a sentence's tags.

    Examples:
        >>> entities = list_entities(["B-PER", "I-PER", "O", "I-LOC", "I-ORG"])
        >>> [tuple(entity) for entity in entities]
        [('PER', 0, 2), ('LOC', 3, 4), ('ORG', 4, 5)]

    An entity begins at (1) B-TYPE, (2) E-TYPE or I-TYPE if the tag before it is
    E-TYPE, (3) any tag with a type if the tag before it is O or has another
    type. These rules are correct for IOB1, IOB2 and IOE2. conlleval.pl contains
    no rules for the prefixes S, L and U, so it joins adjacent entities of one
    type that are tagged with them. `to_scheme` separates these entities.
    """
    return _group_tags(
        tags, lambda previous, prefix: previous + prefix in _CONLLEVAL_BEGINS
    )


def to_scheme(tags: Sequence[str], labels: Sequence[str] = ()) -> list[str]:
    """Converts a sentence's tags from any scheme to the scheme of a model.

    Examples:
        >>> to_scheme(["I-PER", "I-PER", "I-LOC"])
        ['B-PER', 'I-PER', 'B-LOC']
        >>> to_scheme(["I-PER", "I-PER", "I-LOC"], labels=["S-PER"])
        ['B-PER', 'E-PER', 'S-LOC']

    Args:
        tags: tags of the words of a sentence.
        labels: the tags that a model knows. The scheme of the result is BMES
            if a label begins with M, else IOBES if a label begins with S or E,
            else BILOU if a label begins with U or L, else IOB2.
    """
    scheme = _find_scheme(labels)
    entities = _group_tags(
        tags, lambda previous, prefix: previous in "ESLU" or prefix in "BSU"
    )
    result = ["O"] * len(tags)
    for entity_type, start, end in entities:
        suffix = f"-{entity_type}" if entity_type else ""
        result[start:end] = [scheme.middle + suffix] * (end - start)
        result[end - 1] = scheme.last + suffix
        result[start] = scheme.first + suffix
        if end - start == 1:
            result[start] = scheme.only + suffix
    return result


class _Scheme(NamedTuple):
    """The prefixes of a scheme for the words of an entity.

    Attributes:
        first: prefix of the first of several words.
        middle: prefix of a word between the first and the last one.
        last: prefix of the last of several words.
        only: prefix of the only word.
    """

    first: str
    middle: str
    last: str
    only: str


_IOB2 = _Scheme(first="B", middle="I", last="I", only="B")
_IOBES = _Scheme(first="B", middle="I", last="E", only="S")
_BILOU = _Scheme(first="B", middle="I", last="L", only="U")
_BMES = _Scheme(first="B", middle="M", last="E", only="S")


def _find_scheme(labels: Sequence[str]) -> _Scheme:
    """Returns the scheme of the tags that a model knows, or else IOB2."""
    prefixes = {label[:1] for label in labels if label[1:2] in ("-", "")}
    if "M" in prefixes:
        return _BMES
    if prefixes & set("ES"):
        return _IOBES
    if prefixes & set("LU"):
        return _BILOU
    return _IOB2


def _group_tags(
    tags: Sequence[str], begins_anew: Callable[[str, str], bool]
) -> list[Entity]:
    """Returns the entities in a sentence's tags.

    `begins_anew` receives the prefixes of two neighboring tags of one type, and
    returns whether a new entity begins at the second tag.
    """
    entities: list[Entity] = []
    previous = "O"
    previous_type = ""
    start = 0
    for index, tag in enumerate([*tags, "O"]):
        prefix, has_type, entity_type = tag.partition("-")
        if len(tag) > 1 and not has_type:
            # Models of other projects may predict only types: PER, not B-PER.
            prefix = "I"
            entity_type = tag
        begins = prefix != "O" and (
            previous == "O"
            or entity_type != previous_type
            or begins_anew(previous, prefix)
        )
        if previous != "O" and (begins or prefix == "O"):
            entities.append(Entity(previous_type, start, index))
        if begins:
            start = index
        previous, previous_type = prefix, entity_type
    return entities


def score_entities(
    gold_tags: Sequence[Sequence[str]], predicted_tags: Sequence[Sequence[str]]
) -> Scores:
    """Scores entities as conlleval.pl does.

    `list_entities` extracts the entities from the tags. A predicted entity is
    correct if its words and its type are correct.

    Returns:
        `precision`, `recall` and `f1` over all entities, `accuracy`, the
        fraction of correct tags, and the scores of each type of entities, such
        as "PER". Scores are from 0 to 1, and 0 / 0 counts as 0.

    Raises:
        ValueError: a sentence has more or fewer predicted tags than right tags.
    """
    are_right = [
        gold_tag == predicted_tag
        for gold, predicted in zip(gold_tags, predicted_tags, strict=True)
        for gold_tag, predicted_tag in zip(gold, predicted, strict=True)
    ]
    counts = _count_types(gold_tags, predicted_tags)
    overall = {"accuracy": sum(are_right) / max(len(are_right), 1)}
    rates = _compute_rates(*[counter.total() for counter in counts])
    overall |= rates._asdict()
    # A tag such as B names no type.
    entity_types = sorted({*counts.gold, *counts.predicted} - {""})
    by_type = []
    for entity_type in entity_types:
        rates = _compute_rates(*[counter[entity_type] for counter in counts])
        support = counts.gold[entity_type]
        by_type.append(LabelScores(entity_type, *rates, support))
    return Scores(overall, by_type)


class _TypeCounts(NamedTuple):
    """{type: number of its entities} of the entities in all sentences.

    Attributes:
        gold: the right entities.
        predicted: the predicted entities.
        both: the predicted entities that are right.
    """

    gold: collections.Counter[str]
    predicted: collections.Counter[str]
    both: collections.Counter[str]


def _count_types(
    gold_tags: Sequence[Sequence[str]], predicted_tags: Sequence[Sequence[str]]
) -> _TypeCounts:
    """Counts the types of the entities that are right, predicted, and both.

    Examples:
        >>> gold = [["B-PER", "O", "B-LOC"]]
        >>> predicted = [["B-PER", "B-ORG", "O"]]
        >>> [sorted(counter) for counter in _count_types(gold, predicted)]
        [['LOC', 'PER'], ['ORG', 'PER'], ['PER']]
    """
    counts = _TypeCounts(
        collections.Counter(), collections.Counter(), collections.Counter()
    )
    for gold, predicted in zip(gold_tags, predicted_tags, strict=True):
        gold_entities = {*list_entities(gold)}
        predicted_entities = {*list_entities(predicted)}
        counts.gold.update(_types_of(gold_entities))
        counts.predicted.update(_types_of(predicted_entities))
        counts.both.update(_types_of(gold_entities & predicted_entities))
    return counts


def _types_of(entities: Iterable[Entity]) -> list[str]:
    return [entity.entity_type for entity in entities]


class _Rates(NamedTuple):
    """Rates of predicted entities, from 0 to 1."""

    precision: float
    recall: float
    f1: float


def _compute_rates(num_gold: int, num_predicted: int, num_both: int) -> _Rates:
    """Computes rates from numbers of entities. 0 / 0 counts as 0."""
    return _Rates(
        precision=num_both / max(num_predicted, 1),
        recall=num_both / max(num_gold, 1),
        f1=2 * num_both / max(num_predicted + num_gold, 1),
    )
