"""Writes an HTML report of a tagger's right and wrong entities."""

import collections
import os
from collections.abc import Iterable, Iterator, Sequence

from data.io import html_report
from data.io.html_report import escape
from data.ner.reading import NerExample
from data.ner.scoring import (
    Entity,
    describe_entities,
    find_entities,
    score_entities,
)

# Kinds of error: what is wrong with a predicted or a missed entity.
KINDS = {
    "type": "the right words, but another type",
    "words": "the right type, but more or fewer words",
    "both": "other words and another type, overlapping a right one",
    "missed": "a right one that was not found",
    "invented": "found where there is none",
}


def write_report(
    output_file: str | os.PathLike[str],
    examples: Sequence[NerExample],
    predicted_tags: Sequence[Sequence[str]],
    max_sentences: int = 1000,
) -> None:
    """Writes a self-contained HTML page: scores, errors by kind, sentences.

    Args:
        output_file: the page.
        examples: sentences with their right tags.
        predicted_tags: the tags of each.
        max_sentences: maximum to show, those with most errors first.

    Raises:
        OSError: the file cannot be written.
        ValueError: a sentence has more or fewer tags than words.
    """
    right_tags = [example.labels for example in examples]
    scores = score_entities(right_tags, predicted_tags)
    kinds: dict[str, collections.Counter[str]] = {
        kind: collections.Counter() for kind in KINDS
    }
    wrong = []
    for example, found in zip(examples, predicted_tags, strict=True):
        entities, guesses = find_entities(example.labels), find_entities(found)
        errors = find_errors(entities, guesses)
        for kind, entity in errors:
            kinds[kind][entity[0]] += 1
        if errors:
            wrong.append((len(errors), example.words, entities, guesses))
    wrong.sort(key=lambda entry: -entry[0])
    html_report.write(
        output_file,
        "Named entities",
        _parts(scores, kinds, wrong, len(examples), max_sentences),
    )


def describe_sentences(
    tagged: Iterable[tuple[NerExample, Sequence[str]]],
) -> list[dict[str, str]]:
    """Returns {column: text} of sentences and their entities.

    Args:
        tagged: sentences with their right tags, each with those predicted.
    """
    return [
        {
            "text": " ".join(example.words),
            "right": describe_entities(example.words, example.labels),
            "predicted": describe_entities(example.words, found),
        }
        for example, found in tagged
    ]


def find_errors(
    entities: Sequence[Entity], guesses: Sequence[Entity]
) -> list[tuple[str, Entity]]:
    """Returns (kind, entity) of each error, a key of KINDS.

    An error concerns a predicted entity, or a right one that no predicted one
    overlaps.
    """
    errors = []
    for guess in set(guesses) - set(entities):
        kind = "invented"
        overlapping = [
            entity
            for entity in entities
            if entity[1] < guess[2] and guess[1] < entity[2]
        ]
        for entity in overlapping:
            if entity[1:] == guess[1:]:
                kind = "type"
                break
            if entity[0] == guess[0]:
                kind = "words"
            elif kind == "invented":
                kind = "both"
        errors.append((kind, guess))
    for entity in entities:
        if not any(
            entity[1] < guess[2] and guess[1] < entity[2] for guess in guesses
        ):
            errors.append(("missed", entity))
    return errors


def _parts(
    scores: dict[str, float],
    kinds: dict[str, collections.Counter[str]],
    wrong: Sequence[tuple],
    num_sentences: int,
    max_sentences: int,
) -> Iterator[str]:
    yield (
        f"<p>{num_sentences} sentences: F1 {escape(scores['f1'])}, precision "
        f"{escape(scores['precision'])}, recall {escape(scores['recall'])}.</p>"
    )
    types = [name[: -len("_f1")] for name in scores if name.endswith("_f1")]
    yield "<h2>Each type</h2>"
    yield html_report.table(
        ["type", "precision", "recall", "F1"],
        [
            [
                name,
                *(
                    scores[f"{name}_{figure}"]
                    for figure in ("precision", "recall", "f1")
                ),
            ]
            for name in types
        ],
    )
    yield "<h2>Errors by kind</h2><p>By type of the predicted entity; of "
    yield "missed ones by their own.</p>"
    yield html_report.table(
        ["kind", *types, "all"],
        [
            [
                f"{kind}: {KINDS[kind]}",
                *(found[name] for name in types),
                found.total(),
            ]
            for kind, found in kinds.items()
        ],
    )
    yield (
        '<p>In the sentences: <span class="both">found and right</span>, '
        '<span class="right">right</span>, '
        '<span class="wrong">found, but wrong</span>.</p>'
    )
    entries = [
        f"<details open><summary>{count} error{'s' * (count > 1)}</summary>"
        f"<p>right: {_sentence(words, entities, guesses, 'right')}</p>"
        f"<p>found: {_sentence(words, guesses, entities, 'wrong')}</p>"
        "</details>"
        for count, words, entities, guesses in wrong[:max_sentences]
    ]
    yield from html_report.section(
        "Sentences with errors, those with most first", entries, len(wrong)
    )


def _sentence(
    words: Sequence[str],
    entities: Sequence[Entity],
    others: Sequence[Entity],
    kind: str,
) -> str:
    """Returns a sentence with its entities in colour."""
    parts: list[str] = []
    place = 0
    for entity in entities:
        entity_type, start, end = entity
        parts += map(escape, words[place:start])
        css = "both" if entity in others else kind
        text = escape(" ".join(words[start:end]))
        parts.append(
            f'<span class="{css}">{text} <small>{escape(entity_type)}</small>'
            "</span>"
        )
        place = end
    parts += map(escape, words[place:])
    return " ".join(parts)
