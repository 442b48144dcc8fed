"""Answers questions about passages of any length."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from data.squad import decoding, passage_windows
from data.squad.reading import WORD, SquadExample
from serving.engines import Input
from serving.tasks.base import (
    DEFAULTS,
    Outputs,
    Reply,
    Request,
    Row,
    TaskOptions,
    TextTask,
    to_number,
)

Options = TypeVar(
    "Options", passage_windows.WindowOptions, decoding.DecodingOptions
)


def _read(kind: type[Options], settings: Mapping[str, Any]) -> Options:
    """Returns an instance of `kind` with the options of the exported model."""
    fields = dataclasses.fields(kind)
    return kind(**{field.name: settings[field.name] for field in fields})


class Answer(TextTask):
    """Finds the answer to a question in a passage."""

    name = "answer"
    flags = ("n_best",)
    fields = {"question": True, "context": True}
    pads = True

    def __init__(self, model: Any, options: TaskOptions = DEFAULTS) -> None:
        super().__init__(model, options)
        self._windows = _read(passage_windows.WindowOptions, model.settings)
        self._decoding = _read(decoding.DecodingOptions, model.settings)
        self.pads = not self._decoding.trim_padding

    def encode(self, request: Request) -> Row:
        """Returns a Row with one input for each window of the passage."""
        words = [*WORD.finditer(request["context"])]
        example = SquadExample(
            qas_id="",
            question_text=request["question"],
            doc_tokens=[word.group() for word in words],
            context=request["context"],
        )
        tokenizer = self.model.tokenizer
        features = [
            *passage_windows.create_windows(
                tokenizer, self._windows, False, [(0, example)]
            )
        ]
        inputs = []
        for number, feature in enumerate(features):
            feature.unique_id = number
            ids = feature.input_ids[: len(feature.tokens)]
            inputs.append(Input(ids, feature.tokens.index("[SEP]") + 1))
        starts = [word.start() for word in words]
        return Row(request, inputs, [], state=(example, features, starts))

    def keep(self, encoded: Input, outputs: Outputs) -> Any:
        """Returns the start and end logits of an input."""
        return outputs["start_logits"], outputs["end_logits"]

    def read(self, row: Row) -> Reply:
        """Returns {"answer", "probability", "null_odds", "start", "end", ...}.

        "start" and "end" are positions in characters, "start_byte" and
        "end_byte" are positions in bytes. "n_best" is added if the option
        n_best is above 1.
        """
        reply, null_odds, n_best = self._decode(row)
        reply["null_odds"] = null_odds
        if self.options.n_best > 1:
            reply["n_best"] = n_best
        for each in (reply, *n_best):
            for name in {"probability", "null_odds"} & each.keys():
                each[name] = to_number(each[name])
        return reply

    def _decode(self, row: Row) -> tuple[Reply, float, list[Reply]]:
        """Returns the answer, `null_odds` and the n best answers, unrounded."""
        example, features, word_starts = row.state
        context = row.request["context"]
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
            # A position of -1 means "no answer".
            in_bytes = [
                len(context[:char].encode()) if char >= 0 else -1
                for char in place
            ]
            return {
                "answer": entries[index]["text"],
                "probability": entries[index]["probability"],
                **dict(zip(("start", "end"), place, strict=True)),
                **dict(zip(("start_byte", "end_byte"), in_bytes, strict=True)),
            }

        count = min(len(entries), self.options.n_best)
        n_best = [*map(describe, range(count))]
        return describe(answer.chosen), answer.score_diff, n_best
