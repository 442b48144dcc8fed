"""Answers to questions, found in passages of any length."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from data.squad import decoding, windows
from data.squad.reading import WORD, SquadExample
from serving.engines import Input
from serving.requests import to_number
from serving.tasks.base import (
    DEFAULTS,
    Encoded,
    Outputs,
    Reply,
    Request,
    Row,
    TaskOptions,
    TextTask,
)

Options = TypeVar("Options", windows.WindowOptions, decoding.DecodingOptions)


def _read(kind: type[Options], settings: Mapping[str, Any]) -> Options:
    """Returns the options that an export was made with."""
    fields = [field.name for field in dataclasses.fields(kind)]
    return kind(**{name: settings[name] for name in fields})


class Answer(TextTask):
    """The answer to a question in a passage."""

    name = "answer"
    fields = {"question": True, "context": True}
    # In the original, padding competes with the answer.
    pads = True

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        super().__init__(model, options)
        self._windows = _read(windows.WindowOptions, model.settings)
        self._decoding = _read(decoding.DecodingOptions, model.settings)

    def encode(self, request: Request) -> Encoded:
        """Returns an input for each window."""
        words = [*WORD.finditer(request["context"])]
        example = SquadExample(
            qas_id="",
            question_text=request["question"],
            doc_tokens=[word.group() for word in words],
            context=request["context"],
        )
        tokenizer = self.model.tokenizer
        features = [
            *windows.create_windows(
                tokenizer, self._windows, False, [(0, example)]
            )
        ]
        inputs = []
        for number, feature in enumerate(features):
            feature.unique_id = number
            ids = feature.input_ids[: len(feature.tokens)]
            inputs.append(Input(ids, feature.tokens.index("[SEP]") + 1))
        starts = [word.start() for word in words]
        return Encoded(inputs, [], state=(example, features, starts))

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the logits."""
        return outputs["start_logits"], outputs["end_logits"]

    def read(self, request: Request, row: Row) -> Reply:
        """Returns {"answer", ...}; `start` and `end` count characters."""
        example, features, word_starts = row.encoded.state
        context = request["context"]
        tokenizer = self.model.tokenizer.basic_tokenizer
        results = {
            number: decoding.RawResult(number, *logits)
            for number, logits in enumerate(row.outputs)
        }
        answer = decoding.decode_question(
            example, features, results, self._decoding, tokenizer
        )
        entries = decoding.with_probabilities(answer.nbest)

        def describe(index: int) -> Reply:
            place = decoding.find_place(
                answer.nbest[index][1], example, word_starts, tokenizer
            )
            # -1 means no answer in bytes too.
            in_bytes = [
                len(context[:char].encode()) if char >= 0 else -1
                for char in place
            ]
            return {
                "answer": entries[index]["text"],
                "probability": to_number(entries[index]["probability"]),
                **dict(zip(("start", "end"), place, strict=True)),
                **dict(zip(("start_byte", "end_byte"), in_bytes, strict=True)),
            }

        reply = describe(answer.chosen)
        reply["null_odds"] = to_number(answer.score_diff)
        if self.options.n_best > 1:
            count = min(len(entries), self.options.n_best)
            reply["n_best"] = [*map(describe, range(count))]
        return reply
