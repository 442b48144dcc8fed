"""Names the tags of a file as this project does, and refuses other values.

    B-PER, b-per, 3 with --labels, PER in a file without B- and I-

A wrong column, or another sign for words outside of entities, would otherwise
become types of entities that a model learns.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from absl import logging

from data.ner.entity_scoring import list_entities
from files.paths import StrPath
from model_folders.labels import describe_labels

_TAG = re.compile("O|[BIESLUM](-.+)?")
_LOWER_TAG = re.compile("[bieslum]-.+")
# Tags of a scheme, and column names. Neither are types of entities.
_NO_TYPE = re.compile("[BIESLUM](-.+)?|(?i:(ner_?)?(tag|label)s?|ner)")
# Matches the B of B_PER and PER-B, which are not in the notation of a scheme.
_BEGIN_MARK = re.compile("^B(?=[_.:/])|(?<=[-_.:/])B$")
# What stands for O in files of other projects.
_OUTSIDE = ("0", "o")
# More than 100 types, or more than 20 of which half occur only once, are not
# types of entities, but the values of another column.
_MAX_TYPES = 100
_MANY_TYPES = 20


def is_tag(value: str) -> bool:
    """Returns whether a value is O, or a tag of a scheme in either case."""
    return bool(_TAG.fullmatch(value) or _LOWER_TAG.fullmatch(value))


def name_tags(
    path: StrPath,
    counts: Mapping[str, int],
    labels: Sequence[str],
    *,
    is_train: bool,
) -> dict[str, str]:
    """Returns {tag in a file: its name}, without the values that are no tags.

    b-per is named B-PER. In a file without B- and I-, PER is named I-PER:
    successive words of one type are an entity, as in IOB1. If all tags are
    numbers, they are positions in `labels`.

    Examples:
        >>> name_tags("a.txt", {"b-per": 1, "O": 9}, [], is_train=True)
        {'b-per': 'B-PER', 'O': 'O'}
        >>> name_tags("a.txt", {"PER": 1, "O": 9}, [], is_train=True)
        {'PER': 'I-PER', 'O': 'O'}

    Args:
        path: path of the file, for messages.
        counts: {tag in the file: number of its words}.
        labels: the tags of --labels or of the model, [] if they are unknown.
        is_train: whether the file is the train set. A train set in which no
            word is tagged O needs `labels`.

    Raises:
        ValueError: no tag is O, another value stands for O, or the tags are
            numbers without a name.
    """
    if counts and all(re.fullmatch("[0-9]+", tag) for tag in counts):
        return _name_numbers(path, counts, labels)
    if wrong := [tag for tag in _OUTSIDE if tag in counts]:
        raise ValueError(
            f"{path}: words outside of entities are tagged O, not {wrong[0]}. "
            f"The tags are {_describe_tags(counts)}. Replace {wrong[0]} by O"
        )
    if is_train and "O" not in counts and not labels:
        raise ValueError(
            f"{path}: no word is tagged O, as words outside of entities are. "
            f"The tags are {_describe_tags(counts)}. Set --label_column to the "
            "column of the tags, or if every word is in an entity, name the "
            "tags with --labels"
        )
    types = counts.keys() - {"O"}
    if all(map(is_tag, types)):
        return {tag: _in_capitals(tag, labels) for tag in counts}
    has_outside = "O" in counts or is_train
    are_types = not any(
        _NO_TYPE.fullmatch(tag) or _has_inside(tag, types) for tag in types
    )
    if has_outside and are_types:
        return {tag: "O" if tag == "O" else f"I-{tag}" for tag in counts}
    return {tag: tag for tag in counts if _TAG.fullmatch(tag)}


def _has_inside(tag: str, tags: Collection[str]) -> bool:
    """Returns whether `tags` contain the I_PER that may follow a B_PER."""
    inside = _BEGIN_MARK.sub("I", tag)
    return inside != tag and inside in tags


def _in_capitals(tag: str, labels: Sequence[str]) -> str:
    """Returns a tag with a capital prefix: B-PER for b-per.

    But b-Person becomes B-Person, and B-per stays. B-per among the labels of a
    model stands for b-per too.
    """
    if not _LOWER_TAG.fullmatch(tag):
        return tag
    typed_tag = tag[0].upper() + tag[1:]
    keeps_type = typed_tag in labels or not tag.islower()
    return typed_tag if keeps_type else tag.upper()


def _name_numbers(
    path: StrPath, counts: Mapping[str, int], labels: Sequence[str]
) -> dict[str, str]:
    """Returns {number: label}."""
    if not labels:
        raise ValueError(
            f"{path}: the tags are numbers, such as "
            f"{describe_labels([*counts])}. Write their names, "
            "or list all names in the order of the numbers, such as "
            "--labels=O,B-PER,I-PER"
        )
    highest = max(map(int, counts))
    if highest >= len(labels):
        raise ValueError(
            f"{path}: the tag {highest} has no name, because --labels has the "
            f"names of 0 to {len(labels) - 1}"
        )
    return {tag: labels[int(tag)] for tag in counts}


def warn_of_rare_outside(path: StrPath, tags: Counter[str]) -> None:
    """Warns if O is not the most frequent tag of a train set's words."""
    ((most_frequent, num_words),) = tags.most_common(1) or [("O", 0)]
    if 0 < tags["O"] < num_words:
        logging.warning(
            "%s: most words outside of entities are tagged O, but here %s (%d) "
            "is more frequent than O (%d). Check the column of the tags",
            path,
            most_frequent,
            num_words,
            tags["O"],
        )


def check_types(path: StrPath, sentences: Sequence[Sequence[str]]) -> None:
    """Checks that the types of entities do not look like words.

    More than 100 types look like words, and so do more than 20 types of which
    half occur once.

    Args:
        path: path of the file, for the message.
        sentences: the tags of each sentence's words.

    Raises:
        ValueError: the types look like words.
    """
    counts = Counter(
        entity_type
        for tags in sentences
        for entity_type, _, _ in list_entities(tags)
    )
    rare = [
        entity_type
        for entity_type, num_entities in counts.items()
        if num_entities == 1
    ]
    is_wrong = len(counts) > _MANY_TYPES and 2 * len(rare) >= len(counts)
    if is_wrong or len(counts) > _MAX_TYPES:
        raise ValueError(
            f"{path}: {len(counts)} types of entities, of which {len(rare)} "
            "occur once, such as "
            f"{describe_labels(rare or [*counts])}. If they are types, "
            "name all tags with --labels. Otherwise, set --label_column to the "
            "column of the tags"
        )


def _describe_tags(counts: Mapping[str, int]) -> str:
    """Returns the most frequent tags and their numbers of words."""
    tags = [
        f"{tag} ({num_words})"
        for tag, num_words in Counter(counts).most_common(10)
    ]
    return describe_labels(tags) + (" ..." if len(counts) > 10 else "")
