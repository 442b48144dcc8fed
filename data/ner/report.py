"""Writes an HTML report of a tagger's right and wrong entities."""

import collections
from collections.abc import Iterator, Sequence
from typing import Any

from data.io.html_report import Span, show, write
from data.ner.reading import NerExample
from data.ner.scoring import Entity, find_entities, score_entities
from files.paths import StrPath

# {kind of a tagger's error: its description in the report}.
KINDS = {
    "type": "the right words, but another type",
    "words": "the right type, but more or fewer words",
    "both": "other words and another type, overlapping a right entity",
    "missed": "a right entity that was not found",
    "invented": "an entity found where there is none",
}
_KINDS_LEGEND = "Columns: the type of the predicted entity or missed entity."
_LEGEND = (
    "In the sentences: ",
    Span("found and right", "both"),
    ", ",
    Span("right", "right"),
    ", ",
    Span("found, but wrong", "wrong"),
    ".",
)


def write_report(
    output_file: StrPath,
    examples: Sequence[NerExample],
    predicted_tags: Sequence[Sequence[str]],
) -> None:
    """Writes a self-contained HTML page about a tagger's errors.

    The page shows the scores, the number of errors of each kind, and the
    sentences with errors. The sentences with the most errors come first.

    Args:
        output_file: HTML file to write.
        examples: sentences with their right tags.
        predicted_tags: predicted tags of each sentence.

    Raises:
        OSError: the file cannot be written.
        ValueError: a sentence has more or fewer tags than words.
    """
    right_tags = [example.labels for example in examples]
    scores = score_entities(right_tags, predicted_tags)
    types = [name[: -len("_f1")] for name in scores if name.endswith("_f1")]
    kinds: collections.Counter[tuple[str, str]] = collections.Counter()
    wrong = []
    for example, found in zip(examples, predicted_tags, strict=True):
        entities, guesses = find_entities(example.labels), find_entities(found)
        errors = find_errors(entities, guesses)
        kinds.update((kind, entity[0]) for kind, entity in errors)
        if errors:
            wrong.append((len(errors), example.words, entities, guesses))
    wrong.sort(key=lambda entry: -entry[0])
    by_kind = []
    for kind, meaning in KINDS.items():
        counts = [kinds[kind, name] for name in types]
        # The tags B and I mark entities without a type. Count their errors only
        # in the total.
        total = sum(counts) + kinds[kind, ""]
        by_kind.append([f"{kind}: {meaning}", *counts, total])
    figures = [
        [name, *(scores[f"{name}_{i}"] for i in ("precision", "recall", "f1"))]
        for name in types
    ]
    entries = [
        {
            "lines": [f"{count} error{'s' * (count > 1)}"],
            "paragraphs": [
                ["right:", *_marked(words, entities, guesses, "right")],
                ["found:", *_marked(words, guesses, entities, "wrong")],
            ],
            "is_open": True,
        }
        for count, words, entities, guesses in wrong
    ]
    summary = (
        f"{len(examples)} sentences: F1 {show(scores['f1'])}, precision "
        f"{show(scores['precision'])}, recall {show(scores['recall'])}."
    )
    header = ["type", "precision", "recall", "F1"]
    sections: list[dict[str, Any]] = [
        {"title": "Each type", "table": {"header": header, "rows": figures}},
        {
            "title": "Errors by kind",
            "paragraphs": [_KINDS_LEGEND],
            "table": {"header": ["kind", *types, "all"], "rows": by_kind},
        },
        {
            "title": "Sentences with errors, most errors first",
            "paragraphs": [_LEGEND],
            "entries": entries,
        },
    ]
    write(output_file, "Named entities", [summary], sections)


def find_errors(
    entities: Sequence[Entity], guesses: Sequence[Entity]
) -> list[tuple[str, Entity]]:
    """Compares predicted entities with the right entities of a sentence.

    An error is a predicted entity that is wrong, or a right entity that no
    predicted entity overlaps.

    Args:
        entities: right entities.
        guesses: predicted entities.

    Returns:
        (kind, entity) of each error. The kind is a key of KINDS.
    """
    errors = [
        ("missed", entity)
        for entity in entities
        if not any(_overlap(entity, guess) for guess in guesses)
    ]
    for guess in set(guesses) - set(entities):
        overlapping = [one for one in entities if _overlap(one, guess)]
        kind = "both" if overlapping else "invented"
        if any(entity[1:] == guess[1:] for entity in overlapping):
            kind = "type"
        elif any(entity[0] == guess[0] for entity in overlapping):
            kind = "words"
        errors.append((kind, guess))
    return errors


def _overlap(one: Entity, other: Entity) -> bool:
    return one[1] < other[2] and other[1] < one[2]


def _marked(
    words: Sequence[str],
    entities: Sequence[Entity],
    others: Sequence[Entity],
    kind: str,
) -> Iterator[str | Span]:
    """Yields the words of a sentence, with its entities marked.

    An entity is marked with the style "both" if it is also in `others`, and
    otherwise with the style `kind`.
    """
    place = 0
    for entity in entities:
        entity_type, start, end = entity
        yield " ".join(["", *words[place:start], ""])
        marked = "both" if entity in others else kind
        yield Span(" ".join(words[start:end]), marked, entity_type)
        place = end
    yield " ".join(["", *words[place:]])
