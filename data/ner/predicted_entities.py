"""Writes predicted entities, as columns, as JSON lines and in report.html."""

import itertools
import json
from collections.abc import Mapping, Sequence

from absl import logging

from data.arrays import FloatArray
from data.ner.entity_scoring import list_entities
from data.ner.labeled_spans import LabeledSpan
from data.ner.ner_examples import NerExample, find_words
from data.predictions import output_rows
from data.predictions.report import (
    Baseline,
    Heading,
    JudgedPrediction,
    Outcome,
    OutcomeCounts,
    Report,
    list_outcomes,
)
from data.text.characters import CharacterSpan
from files.atomic import atomic_open
from files.json_files import JsonObject
from files.paths import StrPath


def write_columns(
    path: StrPath, examples: Sequence[NerExample], tags: Sequence[list[str]]
) -> None:
    """Writes a line with a word, its right tag and its predicted tag.

    This is the format of conlleval. `tags` are the predicted tags of each
    example.
    """
    with atomic_open(path) as file:
        for example, predicted_tags in zip(examples, tags, strict=True):
            for word, gold, predicted in zip(
                example.words, example.tags, predicted_tags, strict=True
            ):
                file.write(f"{word} {gold} {predicted}\n".encode())
            file.write(b"\n")
    logging.info("Wrote %s", path)


def write_entities(
    path: StrPath,
    examples: Sequence[NerExample],
    tags: Sequence[list[str]],
    probabilities: Sequence[FloatArray],
    prefix: str = "",
) -> None:
    """Writes predicted entities as JSON lines, one object for each example.

    An object contains the `guid`, the `text`, the `words` and the row of an
    example, then the predicted `labels` of the words, the predicted `entities`
    ([start, end, label], with positions in characters) and their
    `probabilities`. An entity is as probable as its least probable tag.
    `correct` says whether the entities are the right ones, if any are known.
    If the row has a field of that name, the new one begins with `predicted_`.

    Args:
        path: the file of JSON lines to write.
        examples: the sentences or texts, in the order of `tags`.
        tags: predicted tags of each example.
        probabilities: probabilities of these tags, float [words].
        prefix: beginning of the names of `labels` and `entities`, to tell them
            from the right ones in the row.
    """
    are_annotated = any({*example.tags} - {"O"} for example in examples)
    with atomic_open(path) as file:
        predictions = zip(examples, tags, probabilities, strict=True)
        for example, tags_of_words, tag_probabilities in predictions:
            text = example.text
            if text is None:
                text = " ".join(example.words)
            answer = _create_answer(
                text,
                example.words,
                tags_of_words,
                tag_probabilities,
                prefix,
            )
            if are_annotated:
                entities = list_entities(tags_of_words)
                answer["correct"] = entities == list_entities(example.tags)
            entry = _create_entry(example, text, answer)
            line = json.dumps(entry, ensure_ascii=False)
            # JSON can contain a lone surrogate, which UTF-8 cannot encode.
            file.write(f"{line}\n".encode(errors="backslashreplace"))
    logging.info("Wrote %d sentences to %s", len(tags), path)


def _create_entry(
    example: NerExample, text: str, answer: JsonObject
) -> JsonObject:
    """Returns the object of an example, with its row and an answer."""
    entry: JsonObject = {
        "guid": example.guid,
        "text": text,
        "words": example.words,
    }
    return entry | output_rows.with_prediction(example.row or {}, answer)


def _create_answer(
    text: str,
    words: Sequence[str],
    tags: list[str],
    probabilities: FloatArray,
    prefix: str,
) -> JsonObject:
    """Returns the fields of a prediction, as `write_entities` says."""
    spans = _list_spans(tags, find_words(text, words))
    return {
        f"{prefix}labels": tags,
        f"{prefix}entities": [[*span] for span in spans],
        "probabilities": [
            round(float(min(probabilities[start:end])), 6)
            for _, start, end in list_entities(tags)
        ],
    }


def _list_spans(
    tags: Sequence[str], word_spans: Sequence[CharacterSpan]
) -> list[LabeledSpan]:
    """Returns the entities in the tags of words, by their characters.

    `word_spans` are the spans of the words, as `find_words` returns them.
    """
    return [
        LabeledSpan(
            word_spans[entity.start].start,
            word_spans[entity.end - 1].end,
            entity.entity_type,
        )
        for entity in list_entities(tags)
    ]


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
    """
    report = Report(heading)
    num_without_entity = 0
    for example, tags in zip(examples, predicted_tags, strict=True):
        word_spans = _joined_word_spans(example.words)
        gold = _list_spans(example.tags, word_spans)
        predicted = _list_spans(tags, word_spans)
        outcomes = list_outcomes(gold, predicted)
        _count_entities(report.counts, gold, outcomes)
        marks = {
            "right": [span.characters for span in gold],
            "predicted": [span.characters for span in predicted],
        }
        report.judged.append(
            _create_judged_prediction(example, outcomes, marks)
        )
        num_without_entity += not gold
    if report.judged:
        share = num_without_entity / len(report.judged)
        report.baseline = Baseline("no entity", share)
    report.write(output_file)


def _create_judged_prediction(
    example: NerExample,
    outcomes: Sequence[Outcome[LabeledSpan]],
    marks: Mapping[str, Sequence[CharacterSpan]],
) -> JudgedPrediction:
    """Lists the errors in the outcomes of a sentence, for report.html."""
    text = " ".join(example.words)
    errors = [
        f"{outcome}: {text[start:end]} ({label or 'entity'})"
        for outcome, (start, end, label) in outcomes
        if outcome != "right"
    ]
    return JudgedPrediction(
        badness=len(errors),
        verdict="; ".join(errors) or "right",
        text=text,
        name=example.guid,
        marks=marks,
    )


def _joined_word_spans(words: Sequence[str]) -> list[CharacterSpan]:
    """Returns the spans of words in the text that joins them by spaces."""
    starts = itertools.accumulate((len(word) + 1 for word in words), initial=0)
    return [
        CharacterSpan(start, start + len(word))
        for start, word in zip(starts, words, strict=False)
    ]


def _count_entities(
    counts: OutcomeCounts,
    gold: Sequence[LabeledSpan],
    outcomes: Sequence[Outcome[LabeledSpan]],
) -> None:
    """Counts the outcomes of a sentence for each type of entities."""
    for outcome, span in outcomes:
        counts[span.label or "all", outcome] += 1
    for span in gold:
        counts[span.label or "all", "support"] += 1
