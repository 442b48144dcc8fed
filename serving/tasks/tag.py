"""Tags of words, in texts of any length."""

from typing import Any

import numpy as np

from data.ner import scoring, windows
from data.ner.reading import NerExample
from serving.engines import Input
from serving.requests import check_text
from serving.tasks.base import Encoded, Outputs, Reply, Request, Row, TextTask
from serving.tasks.texts import to_bytes


class Tag(TextTask):
    """Words and their tags."""

    name = "tag"
    fields = {"text": True}
    other_names = {"text": ["words"]}
    signatures = {"tag": {"text": "text"}, "tag_words": {"text": "words"}}

    def check(self, request: Request) -> None:
        """Also accepts a list of `words` instead of a text."""
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
                    "each of 'words' must be one word, without white space. "
                    f"Received: {repr(word)[:80]}"
                )

    def texts_of(self, request: Request) -> list[str]:
        """Returns one text, also of words."""
        if "words" in request:
            return [" ".join(request["words"])]
        return super().texts_of(request)

    def encode(self, request: Request) -> Encoded:
        """Returns an input for each window."""
        words = request.get("words")
        if words is None:
            words = windows.split_words(request["text"])
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
        return Encoded(inputs, [], state=(example, features))

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the best tag of each WordPiece, and its probability."""
        probabilities = outputs["probabilities"]
        return probabilities.argmax(-1), probabilities.max(-1)

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"words", "tags"}, of a text also "spans" and "entities"."""
        words, tags = self._tag(row)
        answer: Reply = {"words": words, "tags": tags}
        if "text" in request:
            text = request["text"]
            spans, entities, end = [], [], 0
            for word in words:
                start = text.index(word, end)
                end = start + len(word)
                spans.append([start, end])
            for entity_type, first, last in scoring.find_entities(tags):
                start, end = spans[first][0], spans[last - 1][1]
                entity = {"type": entity_type, "text": text[start:end]}
                entities.append(entity | {"start": start, "end": end})
            answer |= {"spans": spans, "entities": entities}
        return answer

    def read_arrays(self, request: Request, row: Row) -> Outputs:
        """See TextTask."""
        words, tags = self._tag(row)
        values = np.zeros(len(words), np.float32)
        _, features = row.encoded.state
        for feature, (_, best) in zip(features, row.outputs, strict=True):
            for position, _, word in feature.words:
                values[word] = best[position]
        return {
            "words": to_bytes(words),
            "tags": to_bytes(tags),
            "probabilities": values,
            "num_words": np.array(len(words), np.int32),
        }

    def _tag(self, row: Row) -> tuple[list[str], list[str]]:
        """Returns the words and their tags."""
        example, features = row.encoded.state
        best = [ids for ids, _ in row.outputs]
        (tags,) = windows.decode_predictions(
            [example], features, best, self.model.settings["labels"]
        )
        return example.words, tags
