"""Writes predicted tags and entities, for conlleval and as JSON lines."""

import json
from collections.abc import Sequence

from absl import logging

from data.arrays import FloatArray
from data.ner.entity_scoring import find_entities
from data.ner.ner_example import NerExample
from data.ner.word_splitting import find_words
from data.outputs import output_rows
from files.atomic import atomic_open
from files.json_files import JsonObject
from files.paths import StrPath


def write_columns(
    path: StrPath, examples: Sequence[NerExample], tags: Sequence[list[str]]
) -> None:
    """Writes a line with a word, its right tag and its predicted tag.

    This is the format of conlleval. `tags` are the predicted tags of each
    example.

    Raises:
        OSError: the file cannot be written.
    """
    with atomic_open(path) as file:
        for example, predicted_tags in zip(examples, tags, strict=True):
            for word, gold, predicted in zip(
                example.words, example.labels, predicted_tags, strict=True
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
    `correct` states whether the entities are the right ones, if any are known.
    If the row has a field of that name, the new one begins with `predicted_`.

    Args:
        path: the file of JSON lines to write.
        examples: the examples.
        tags: predicted tags of each example.
        probabilities: probabilities of these tags, float [words].
        prefix: beginning of the names of `labels` and `entities`, to tell them
            from the right ones in the row.

    Raises:
        OSError: the file cannot be written.
    """
    are_annotated = any({*example.labels} - {"O"} for example in examples)
    with atomic_open(path) as file:
        predictions = zip(examples, tags, probabilities, strict=True)
        for example, labels, tag_probabilities in predictions:
            text = example.text
            if text is None:
                text = " ".join(example.words)
            answer = _create_answer(
                text, example.words, labels, tag_probabilities, prefix
            )
            if are_annotated:
                entities = find_entities(labels)
                answer["correct"] = entities == find_entities(example.labels)
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
    labels: list[str],
    probabilities: FloatArray,
    prefix: str,
) -> JsonObject:
    """Returns the fields of a prediction, as `write_entities` says."""
    word_spans = find_words(text, words)
    entities = find_entities(labels)
    spans = [
        [word_spans[start][0], word_spans[end - 1][1], entity_type]
        for entity_type, start, end in entities
    ]
    return {
        f"{prefix}labels": labels,
        f"{prefix}entities": spans,
        "probabilities": [
            round(float(min(probabilities[start:end])), 6)
            for _, start, end in entities
        ],
    }
