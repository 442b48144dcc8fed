"""Asks an exported model about JSON objects: see predict.py."""

import json
import os

import numpy as np
import tensorflow as tf


class Task:
    """One thing that an exported model does.

    Args:
        model: the loaded SavedModel.
        top_k: WordPieces given for each mask.
        tokens: whether to embed each WordPiece too.
    """

    #: As --task names it.
    name = None
    #: The signature that it needs.
    signature = None
    #: Fields of a request, and whether each must be there.
    fields = {}

    def __init__(self, model, top_k=5, tokens=False):
        self.model = model
        self.top_k = top_k
        self.tokens = tokens

    def parse(self, line):
        """Returns a line's request, a dict; texts as the signature's inputs.

        Raises:
            ValueError: the line is not JSON, or not such a request.
        """
        try:
            request = json.loads(line)
        except UnicodeDecodeError as error:
            raise ValueError(f"not UTF-8: {error}") from None
        except ValueError as error:
            raise ValueError(f"not JSON: {error}") from None
        if not isinstance(request, dict):
            raise ValueError(
                f"a JSON object must be given. Received: {line.strip()[:80]!r}"
            )
        self.check(request)
        return request

    def check(self, request):
        """Raises a ValueError where a field is missing or is no text."""
        for field, is_needed in self.fields.items():
            if field not in request and is_needed:
                raise ValueError(
                    f"no {field!r}; {self.name} takes {_listed(self.fields)}"
                )
            _check_text(field, request.get(field, ""))

    def answer(self, requests):
        """Returns the answers, a list of dicts, to parsed requests."""
        outputs = self.call(
            self.signature,
            {
                field: [request.get(field, "") for request in requests]
                for field in self.fields
            },
        )
        return [
            _with_id(request, self.read(outputs, row))
            for row, request in enumerate(requests)
        ]

    def call(self, signature, inputs):
        """Returns a signature's outputs, arrays by name."""
        texts = {
            name: tf.constant(values, tf.string)
            for name, values in inputs.items()
        }
        outputs = self.model.signatures[signature](**texts)
        return {name: value.numpy() for name, value in outputs.items()}

    def read(self, outputs, row):
        """Returns the answer, a dict, in one row of the outputs."""
        raise NotImplementedError


class FillMask(Task):
    """The WordPieces that fit each [MASK]."""

    name, signature = "fill-mask", "fill_mask"
    fields = {"text": True}

    def check(self, request):
        """Also refuses a text without [MASK]."""
        super().check(request)
        if "[MASK]" not in request["text"]:
            raise ValueError("no [MASK] in 'text'")

    def read(self, outputs, row):
        """See Task."""
        return {
            "masks": [
                [
                    {"token": _text(token), "probability": _number(probability)}
                    for token, probability in zip(
                        outputs["tokens"][row, mask, : self.top_k],
                        outputs["probabilities"][row, mask, : self.top_k],
                        strict=True,
                    )
                ]
                for mask in range(outputs["num_masks"][row])
            ]
        }


class NextSentence(Task):
    """How probable it is that one sentence follows another."""

    name, signature = "next-sentence", "next_sentence"
    fields = {"text_a": True, "text_b": True}

    def read(self, outputs, row):
        """See Task."""
        return {"probability": _number(outputs["probability"][row])}


class Classify(Task):
    """The label of a text or a pair, several labels, or a number."""

    name = signature = "classify"
    fields = {"text_a": True, "text_b": False}

    def read(self, outputs, row):
        """See Task."""
        if "values" in outputs:
            return {"value": _number(outputs["values"][row])}
        label = outputs["label"][row]
        if isinstance(label, np.ndarray):
            label = [_text(one) for one in label if one]
        else:
            label = _text(label)
        labels = map(_text, outputs["labels"])
        probabilities = map(_number, outputs["probabilities"][row])
        return {
            "label": label,
            "probabilities": dict(zip(labels, probabilities, strict=True)),
        }


class Answer(Task):
    """The answer to a question in a passage."""

    name = signature = "answer"
    fields = {"question": True, "context": True}

    def read(self, outputs, row):
        """See Task."""
        return {
            "answer": _text(outputs["answer"][row]),
            "probability": _number(outputs["probability"][row]),
            "start_byte": int(outputs["start_byte"][row]),
            "end_byte": int(outputs["end_byte"][row]),
            "null_odds": _number(outputs["null_odds"][row]),
        }


class Tag(Task):
    """Words and their tags."""

    name = signature = "tag"
    fields = {"text": True}

    def check(self, request):
        """Takes a list of `words` in place of a text."""
        if "words" not in request:
            return super().check(request)
        words = request["words"]
        if not isinstance(words, list):
            raise ValueError(
                f"'words' must be a list. Received: {repr(words)[:80]}"
            )
        for word in words:
            _check_text("words", word)
            if len(word.split()) != 1:
                raise ValueError(
                    "each of 'words' must be one word, without white space. "
                    f"Received: {repr(word)[:80]}"
                )

    def answer(self, requests):
        """See Task."""
        answers = [None] * len(requests)
        for signature, has_words in (("tag", False), ("tag_words", True)):
            rows = [
                row
                for row, request in enumerate(requests)
                if ("words" in request) == has_words
            ]
            if not rows:
                continue
            texts = [
                " ".join(requests[row]["words"])
                if has_words
                else requests[row]["text"]
                for row in rows
            ]
            outputs = self.call(signature, {"text": texts})
            for found, row in enumerate(rows):
                answers[row] = _with_id(
                    requests[row], self.read(outputs, found)
                )
        return answers

    def read(self, outputs, row):
        """See Task."""
        count = outputs["num_words"][row]
        return {
            "words": [_text(word) for word in outputs["words"][row, :count]],
            "tags": [_text(tag) for tag in outputs["tags"][row, :count]],
        }


class Embed(Task):
    """The vector of a text, and those of its WordPieces."""

    name = signature = "embed"
    fields = {"text": True}

    def read(self, outputs, row):
        """See Task."""
        pooled = [_number(value) for value in outputs["pooled_output"][row]]
        answer = {"pooled": pooled}
        if self.tokens:
            count = outputs["lengths"][row]
            answer["tokens"] = [
                _text(token) for token in outputs["tokens"][row, :count]
            ]
            answer["sequence"] = [
                [_number(value) for value in vector]
                for vector in outputs["sequence_output"][row, :count]
            ]
        return answer


def load(path, name=None, top_k=5, tokens=False):
    """Loads an exported model to ask it.

    Args:
        path: folder of a SavedModel.
        name: str, the task; None for the first that it does.
        top_k: WordPieces for each mask.
        tokens: whether to embed each WordPiece too.

    Returns:
        a Task.

    Raises:
        FileNotFoundError: there is no SavedModel.
        ValueError: it does not do that task, or none.
    """
    if not os.path.isfile(os.path.join(path, "saved_model.pb")):
        raise FileNotFoundError(
            f"--model={path} is no SavedModel: there is no saved_model.pb in "
            "it; give a folder that --export_dir wrote"
        )
    model = tf.saved_model.load(path)
    kinds = {
        kind.name: kind
        for kind in (FillMask, NextSentence, Classify, Answer, Tag, Embed)
        if kind.signature in model.signatures
    }
    if not kinds:
        raise ValueError(
            f"--model={path} takes no text: its signatures are "
            f"{_listed(model.signatures)}; export it with --vocab_file"
        )
    if name not in (None, *kinds):
        raise ValueError(
            f"--task={name}, but --model={path} does {_listed(kinds)}"
        )
    return kinds[name or next(iter(kinds))](model, top_k, tokens)


def to_json_lines(answers):
    """Returns dicts as JSON lines, UTF-8 bytes."""
    return b"".join(
        json.dumps(answer, ensure_ascii=False).encode() + b"\n"
        for answer in answers
    )


def _check_text(field, value):
    if not isinstance(value, str):
        raise ValueError(
            f"{field!r} must be a text. Received: {repr(value)[:80]}"
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{field!r} holds half of a surrogate pair, which is no character"
        ) from None


def _with_id(request, answer):
    return {"id": request["id"], **answer} if "id" in request else answer


def _listed(names):
    return ", ".join(sorted(names))


def _text(value):
    return value.decode("utf-8")


def _number(value):
    """Returns a float that is written short: 6 digits that count."""
    return float(f"{value:.6g}")
