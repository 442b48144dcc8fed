"""Named entities out of tags, and their scores as conlleval's."""

import collections


def find_entities(tags):
    """Returns the entities of a sentence's tags, in order.

        B-PER I-PER O I-LOC I-ORG -> (PER, 0, 2), (LOC, 3, 4), (ORG, 4, 5)

    An entity begins at B-TYPE, and at I-TYPE after O or another type; so
    IOB1 and IOB2 give the same.

    Args:
        tags: list of str.

    Returns:
        list of (type, first word, word after the last).
    """
    entities = []
    previous_type = start = None
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, entity_type = tag.partition("-")
        if previous_type and (prefix != "I" or entity_type != previous_type):
            entities.append((previous_type, start, i))
            previous_type = None
        if prefix != "O" and previous_type is None:
            previous_type, start = entity_type, i
    return entities


def to_iob2(tags):
    """Returns tags where each entity, and nothing else, begins with B-."""
    iob2 = ["O"] * len(tags)
    for entity_type, start, end in find_entities(tags):
        iob2[start:end] = [f"I-{entity_type}"] * (end - start)
        iob2[start] = f"B-{entity_type}"
    return iob2


def score_entities(right_tags, predicted_tags):
    """Scores entities: one counts if its words and its type are right.

    Args:
        right_tags: list of lists of str, the tags of each sentence.
        predicted_tags: like right_tags.

    Returns:
        dict of `precision`, `recall`, `f1` (all entities), the same with
        `TYPE_` before them for each type, and `accuracy` of tags; in [0, 1].

    Raises:
        ValueError: the sentences are not of the same lengths.
    """
    right, predicted, correct = (collections.Counter() for _ in range(3))
    num_tags = num_right_tags = 0
    for sentence, (expected, found) in enumerate(
        zip(right_tags, predicted_tags, strict=True), start=1
    ):
        if len(expected) != len(found):
            raise ValueError(
                f"sentence {sentence} has {len(expected)} tags, but "
                f"{len(found)} predicted ones"
            )
        num_tags += len(expected)
        num_right_tags += sum(map(str.__eq__, expected, found))
        expected, found = find_entities(expected), find_entities(found)
        right.update(entity[0] for entity in expected)
        predicted.update(entity[0] for entity in found)
        correct.update(entity[0] for entity in set(expected) & set(found))

    scores = {"accuracy": num_right_tags / num_tags if num_tags else 0.0}
    scores |= _rates(correct.total(), predicted.total(), right.total())
    for entity_type in sorted(right | predicted):
        rates = _rates(
            correct[entity_type], predicted[entity_type], right[entity_type]
        )
        scores |= {f"{entity_type}_{name}": rates[name] for name in rates}
    return scores


def _rates(num_correct, num_predicted, num_right):
    """Returns precision, recall and their harmonic mean; 0 for 0 / 0."""
    return {
        "precision": num_correct / num_predicted if num_predicted else 0.0,
        "recall": num_correct / num_right if num_right else 0.0,
        "f1": 2 * num_correct / (num_predicted + num_right)
        if num_correct
        else 0.0,
    }
