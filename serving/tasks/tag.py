"""Tags the words of texts of any length, for example with named entities."""

from typing import Any

import numpy as np

from data.ner import legal_tags, scoring, windows
from data.ner.reading import NerExample
from data.ner.words import find_words, split_words
from serving.engines import Input
from serving.tasks.base import (
    Outputs,
    Reply,
    Request,
    Row,
    TextTask,
    check_text,
    to_numbers,
)


class Tag(TextTask):
    """Splits a text into words and tags them."""

    name = "tag"
    fields = {"text": True}
    other_names = {"text": ["words"]}

    def check(self, request: Request) -> None:
        """Checks a request, which contains a text or a list of `words`."""
        if "words" not in request:
            super().check(request)
            return
        words = request["words"]
        if not isinstance(words, list):
            raise ValueError(
                f"'words' must be a list. Received: {repr(words)[:80]}"
            )
        for word in words:
            check_text("words", word)
            if len(word.split()) != 1:
                raise ValueError(
                    "each of 'words' must be one word without white space. "
                    f"Received: {repr(word)[:80]}"
                )

    def encode(self, request: Request) -> Row:
        """Returns a Row with one input for each window of the text."""
        words = request.get("words")
        if words is None:
            words = split_words(request["text"])
        labels = self.model.settings["labels"]
        example = NerExample("", words, labels[:1] * len(words), 0)
        features = [
            *windows.create_features(
                [example],
                labels,
                self.model.max_seq_length,
                self.model.tokenizer,
            )
        ]
        inputs = []
        for feature in features:
            length = len(feature.tokens)
            inputs.append(Input(feature.input_ids[:length], length))
        return Row(request, inputs, [], state=(example, features))

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the probability of each tag at each WordPiece."""
        return outputs["probabilities"]

    def read(self, row: Row) -> Reply:
        """Returns {"words", "tags", "probabilities"}, with one item per word.

        If the request is a text, also returns "text", "spans" (the positions of
        the words), "entities" and "label". The "probability" of an entity is
        the probability of its least probable tag. "label" repeats the entities
        as [start, end, type], a form that annotation tools such as doccano
        read.
        """
        words, tags, values = self._tag(row)
        probabilities = to_numbers(values)
        answer: Reply = {"words": words, "tags": tags}
        answer["probabilities"] = probabilities
        if "text" in row.request:
            text = row.request["text"]
            spans, entities = find_words(text, words), []
            for kind, first, last in scoring.find_entities(tags):
                start, end = spans[first][0], spans[last - 1][1]
                entity = {"type": kind, "text": text[start:end]}
                entity |= {"start": start, "end": end}
                entity["probability"] = min(probabilities[first:last])
                entities.append(entity)
            answer |= {
                "spans": [[*span] for span in spans],
                "entities": entities,
                "text": text,
                "label": [
                    [each["start"], each["end"], each["type"]]
                    for each in entities
                ],
            }
        return answer

    def _tag(self, row: Row) -> tuple[list[str], list[str], np.ndarray]:
        """Returns a text's words, their tags and the tags' probabilities."""
        example, features = row.state
        labels = self.model.settings["labels"]
        (found,) = windows.select_words(
            [example], features, row.outputs, len(labels)
        )
        ids = legal_tags.decode(
            legal_tags.to_scores(found),
            labels,
            self.model.settings.get("legal_tags", False),
        )
        probabilities = np.take_along_axis(found, ids[:, None], -1)[:, 0]
        return example.words, [labels[i] for i in ids], probabilities
