"""Tags the words of texts of any length, for example with named entities."""

from data.ner import scoring, sentence_windows
from data.ner.sentence_windows import NerExample
from data.ner.words import find_words, split_words
from serving.engines import Input
from serving.serving_flags import TaskFlags
from serving.tasks.base import (
    Encoded,
    OutputArrays,
    Reply,
    Request,
    TaskModel,
    TextTask,
    labels_of,
)

# The text, None if the request contains words. The words, and their windows.
Context = tuple[str | None, NerExample, list[sentence_windows.NerFeatures]]


def _encode(model: TaskModel, request: Request) -> Encoded[Context]:
    words = request.get("words")
    if words is None:
        words = split_words(request["text"])
    labels = labels_of(model)
    example = NerExample("", words, labels[:1] * len(words), 0)
    features = [
        *sentence_windows.create_features(
            [example], labels, model.max_seq_length, model.tokenizer
        )
    ]
    lengths = [len(feature.tokens) for feature in features]
    inputs = [
        Input(feature.input_ids[:length], length)
        for feature, length in zip(features, lengths, strict=True)
    ]
    return Encoded(inputs, (request.get("text"), example, features))


def _decode(
    model: TaskModel,
    context: Context,
    outputs: list[OutputArrays],
    options: TaskFlags,
) -> Reply:
    # An entity is as probable as its least probable tag. "label" repeats the
    # entities in a form that tools such as doccano read.
    text, example, features = context
    labels = labels_of(model)
    words = example.words
    values = [each["probabilities"] for each in outputs]
    (tags,), (probabilities,) = sentence_windows.choose_tags(
        [example],
        features,
        values,
        labels,
        model.settings.get("legal_tags", False),
    )
    reply: Reply = {
        "words": words,
        "tags": tags,
        "probabilities": probabilities,
    }
    if text is None:
        return reply
    spans = find_words(text, words)
    entities = []
    for kind, first, last in scoring.find_entities(tags):
        start, end = spans[first][0], spans[last - 1][1]
        entities.append(
            {
                "type": kind,
                "text": text[start:end],
                "start": start,
                "end": end,
                "probability": probabilities[first:last].min(),
            }
        )
    return reply | {
        "spans": [[*span] for span in spans],
        "entities": entities,
        "text": text,
        "label": [[x["start"], x["end"], x["type"]] for x in entities],
    }


TAG = TextTask(
    "tag",
    _encode,
    _decode,
    {"text": True},
    other_names={"text": ["words"]},
    reads_all=True,
    settings=("labels",),
)
