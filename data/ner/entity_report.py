"""Reports the named entities that a tagger finds in a dev set."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from data.ner.entity_scoring import find_entities
from data.ner.ner_example import NerExample
from data.report import (
    Baseline,
    Heading,
    JudgedPrediction,
    OutcomeCounts,
    Report,
    find_outcomes,
)
from files.paths import StrPath

# (type, start, end) of an entity, in characters of the sentence.
_Entity: TypeAlias = tuple[str, int, int]


def write_entity_report(
    output_file: StrPath,
    heading: Heading,
    examples: Sequence[NerExample],
    predicted_tags: Sequence[Sequence[str]],
) -> None:
    """Reports a tagger's entities, the sentences with most errors first.

    Args:
        output_file: path of the page.
        heading: the title and the scores.
        examples: the sentences with their right tags.
        predicted_tags: the tags of the words of each sentence.

    Raises:
        OSError: the file cannot be written.
    """
    report = Report(heading)
    num_without = 0
    for example, tags in zip(examples, predicted_tags, strict=True):
        gold = _entities_of(example.words, example.labels)
        predicted = _entities_of(example.words, tags)
        outcomes = find_outcomes(gold, predicted)
        _count_entities(report.counts, gold, outcomes)
        marks = {
            "right": [(start, end) for _, start, end in gold],
            "predicted": [(start, end) for _, start, end in predicted],
        }
        report.judged.append(
            _create_judged_prediction(example, outcomes, marks)
        )
        num_without += not gold
    if report.judged:
        share = num_without / len(report.judged)
        report.baseline = Baseline("no entity", share)
    report.write(output_file)


def _create_judged_prediction(
    example: NerExample,
    outcomes: Sequence[tuple[str, _Entity]],
    marks: Mapping[str, Sequence[tuple[int, int]]],
) -> JudgedPrediction:
    """Lists the errors in the outcomes of a sentence, for report.html."""
    text = " ".join(example.words)
    errors = [
        f"{outcome}: {text[start:end]} ({entity_type or 'entity'})"
        for outcome, (entity_type, start, end) in outcomes
        if outcome != "right"
    ]
    return JudgedPrediction(
        badness=len(errors),
        verdict="; ".join(errors) or "right",
        text=text,
        name=example.guid,
        marks=marks,
    )


def _entities_of(words: Sequence[str], tags: Sequence[str]) -> list[_Entity]:
    starts = [0, *itertools.accumulate(len(word) + 1 for word in words)]
    return [
        (entity_type, starts[start], starts[end] - 1)
        for entity_type, start, end in find_entities(tags)
    ]


def _count_entities(
    counts: OutcomeCounts,
    gold: Sequence[_Entity],
    outcomes: Sequence[tuple[str, _Entity]],
) -> None:
    """Counts the outcomes of a sentence for each type of entities."""
    for outcome, (entity_type, _, _) in outcomes:
        counts[entity_type or "all", outcome] += 1
    for entity_type, _, _ in gold:
        counts[entity_type or "all", "support"] += 1
