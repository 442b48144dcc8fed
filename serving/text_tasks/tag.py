"""Tags the words of texts of any length, for example with named entities."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, NotRequired, TypedDict

from data.ner import entity_scoring, sentence_windows
from data.ner.ner_examples import NerExample, find_words, split_words
from model_folders.head_settings import TokenClassifierSettings
from serving.engines import NetworkInput, OutputArrays
from serving.text_tasks.loaded_export import LoadedExport
from serving.text_tasks.request_fields import RequestField
from serving.text_tasks.text_task import EncodedRequest, ReplyOptions, TextTask


@dataclasses.dataclass(frozen=True, kw_only=True)
class TokenClassifierHead:
    """The settings with which the text task `tag` reads a token classifier.

    Attributes:
        labels: the tags, in the order of the network's outputs.
        chooses_legal_tags: whether the best legal sequence of tags is chosen,
            or each tag independently.
    """

    labels: list[str]
    chooses_legal_tags: bool = False


def parse_token_classifier_head(
    head_settings: TokenClassifierSettings,
) -> TokenClassifierHead:
    """Returns the head of a token classifier, by its settings."""
    return TokenClassifierHead(
        labels=[*(head_settings.get("labels") or ())],
        # An export without this setting chooses each tag independently.
        chooses_legal_tags=bool(head_settings.get("legal_tags")),
    )


class EntityReply(TypedDict):
    """An entity in a text.

    Attributes:
        type: type of the entity, such as "PER".
        text: text of the entity.
        start: index of its first character.
        end: index after its last character.
        probability: probability of its least probable tag.
    """

    type: str
    text: str
    start: int
    end: int
    probability: float


class TagRequest(TypedDict):
    """A text, or a list of its words."""

    text: NotRequired[str]
    words: NotRequired[list[str]]


class TagReply(TypedDict):
    """The tags of W words. Only the reply to a text contains positions.

    Attributes:
        words: the words [W].
        tags: tag of each word [W].
        probabilities: probability of each tag [W].
        spans: [start, end] of each word [W].
        entities: the entities that the tags name, in the order of the text.
        text: the text of the request.
        label: [start, end, type] of the entities, which tools such as doccano
            read.
    """

    words: list[str]
    tags: list[str]
    probabilities: list[float]
    spans: NotRequired[list[list[int]]]
    entities: NotRequired[list[EntityReply]]
    text: NotRequired[str]
    label: NotRequired[list[list[int | str]]]


class _Sentence(NamedTuple):
    """The parts of a request to tag that decoding needs.

    Attributes:
        text: the text, None if the request contains words.
        example: the words to tag, in their order.
        windows: the inputs of the network, which together contain all words.
    """

    text: str | None
    example: NerExample
    windows: list[sentence_windows.NerFeatures]


def _encode_words(
    loaded_export: LoadedExport[TokenClassifierHead], request: TagRequest
) -> EncodedRequest[_Sentence]:
    """Splits a text into words, and cuts the words into windows."""
    words = request.get("words")
    if words is None:
        words = split_words(request["text"])
    labels = loaded_export.head.labels
    example = NerExample("", words, labels[:1] * len(words), 0)
    windows = [
        *sentence_windows.create_ner_features(
            [example],
            labels,
            loaded_export.max_seq_length,
            loaded_export.tokenizer,
        )
    ]
    lengths = [len(window.tokens) for window in windows]
    inputs = [
        NetworkInput(window.input_ids[:length], length)
        for window, length in zip(windows, lengths, strict=True)
    ]
    return EncodedRequest(
        inputs, _Sentence(request.get("text"), example, windows)
    )


def _decode_tags(
    loaded_export: LoadedExport[TokenClassifierHead],
    sentence: _Sentence,
    outputs: list[OutputArrays],
    reply_options: ReplyOptions,
) -> TagReply:
    """Returns the tags of the words, and the entities in the text."""
    text, example, windows = sentence
    labels = loaded_export.head.labels
    (tags,), (probabilities,) = sentence_windows.choose_tags(
        [example],
        windows,
        [arrays["probabilities"] for arrays in outputs],
        labels,
        legal_tags=loaded_export.head.chooses_legal_tags,
    )
    reply: TagReply = {
        "words": example.words,
        "tags": tags,
        "probabilities": probabilities.tolist(),
    }
    return reply if text is None else _with_positions(reply, text)


def _with_positions(reply: TagReply, text: str) -> TagReply:
    """Returns the reply to a text, with the positions of words and entities."""
    spans = find_words(text, reply["words"])
    entities = _create_entity_replies(
        text, spans, reply["tags"], reply["probabilities"]
    )
    return {
        **reply,
        "spans": [[*span] for span in spans],
        "entities": entities,
        "text": text,
        "label": [
            [entity["start"], entity["end"], entity["type"]]
            for entity in entities
        ],
    }


def _create_entity_replies(
    text: str,
    spans: Sequence[Sequence[int]],
    tags: Sequence[str],
    probabilities: Sequence[float],
) -> list[EntityReply]:
    """Returns the entities that the tags of words name.

    `spans` are the positions of the words in the text.
    """
    entities: list[EntityReply] = []
    for entity in entity_scoring.list_entities(tags):
        start, end = spans[entity.start][0], spans[entity.end - 1][1]
        entities.append(
            {
                "type": entity.entity_type,
                "text": text[start:end],
                "start": start,
                "end": end,
                # An entity is as probable as its least probable tag.
                "probability": min(probabilities[entity.start : entity.end]),
            }
        )
    return entities


TAG = TextTask(
    name="tag",
    encode=_encode_words,
    decode=_decode_tags,
    fields=[RequestField("text", list_alias="words")],
    reads_all=True,
    parse_head=parse_token_classifier_head,
    required_settings=("labels",),
)
