"""The tasks of exported models, one class each."""

import numpy as np

from data.ner import scoring
from serving.requests import MASK
from serving.text_task import (
    Reply,
    Request,
    Row,
    TextTask,
    TooLarge,
    check_text,
    to_number,
    to_texts,
)


class FillMask(TextTask):
    """The WordPieces that fit each [MASK]."""

    name, signature = "fill-mask", "fill_mask"
    fields = {"text": True}

    def check(self, request: Request) -> None:
        """Also refuses a text without [MASK]."""
        super().check(request)
        if MASK not in request["text"]:
            raise ValueError(f"no {MASK} in 'text'")

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask."""
        num_masks = int(row["num_masks"])
        num_cut = request["text"].count(MASK) - num_masks
        if not num_masks:
            raise ValueError(
                f"every {MASK} is beyond the WordPieces that the model takes; "
                "shorten 'text'"
            )
        masks = [
            [
                {"token": token, "probability": to_number(probability)}
                for token, probability in zip(
                    to_texts(tokens[: self.options.top_k]),
                    probabilities[: self.options.top_k],
                    strict=True,
                )
            ]
            for tokens, probabilities in zip(
                row["tokens"][:num_masks],
                row["probabilities"][:num_masks],
                strict=True,
            )
        ]
        return {"masks": masks} | (
            {"num_masks_cut": num_cut} if num_cut else {}
        )


class NextSentence(TextTask):
    """Scores whether one sentence follows another."""

    name, signature = "next-sentence", "next_sentence"
    fields = {"text_a": True, "text_b": True}

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask."""
        return {"probability": to_number(row["probability"])}


class _PairTask(TextTask):
    """A task over a text, or a pair of them."""

    fields = {"text_a": True, "text_b": False}

    def check(self, request: Request) -> None:
        """Also accepts `text` for `text_a`."""
        if "text" in request:
            if "text_a" in request:
                raise ValueError("'text' and 'text_a' are the same; give one")
            request["text_a"] = request.pop("text")
        super().check(request)


class Classify(_PairTask):
    """The label of a text or a pair, several labels, or a number."""

    name = signature = "classify"

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask."""
        if "values" in row:
            return {"value": to_number(row["values"])}
        label = row["label"]
        is_one = isinstance(label, bytes)
        probabilities = map(to_number, row["probabilities"])
        return {
            "label": label.decode()
            if is_one
            else to_texts(filter(None, label)),
            "probabilities": dict(
                zip(to_texts(row["labels"]), probabilities, strict=True)
            ),
        }


class Answer(TextTask):
    """The answer to a question in a passage."""

    name = signature = "answer"
    fields = {"question": True, "context": True}

    def signature_of(self, request: Request) -> str:
        """See TextTask; several answers have their own signature."""
        return "answer_n_best" if self.options.n_best > 1 else "answer"

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask; `start` and `end` count characters."""
        context = request["context"].encode()

        def count_characters(byte: int) -> int:
            """Converts a byte offset to characters; -1 stays -1."""
            if byte < 0:
                return -1
            return len(context[:byte].decode("utf-8", "ignore"))

        def describe(
            text: bytes, probability: float, start: int, end: int
        ) -> Reply:
            return {
                "answer": text.decode(),
                "probability": to_number(probability),
                "start": count_characters(start),
                "end": count_characters(end),
                "start_byte": int(start),
                "end_byte": int(end),
            }

        names = ("answer", "probability", "start_byte", "end_byte")
        answer = describe(*(row[name] for name in names))
        answer["null_odds"] = to_number(row["null_odds"])
        if self.options.n_best > 1:
            count = min(row["num_answers"], self.options.n_best)
            names = ("answers", "probabilities", "start_bytes", "end_bytes")
            columns = (row[name][:count] for name in names)
            answer["n_best"] = [
                describe(*values) for values in zip(*columns, strict=True)
            ]
        return answer


class Tag(TextTask):
    """Words and their tags."""

    name = signature = "tag"
    fields = {"text": True}

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
        """See TextTask; words are one text."""
        if "words" in request:
            return [" ".join(request["words"])]
        return super().texts_of(request)

    def signature_of(self, request: Request) -> str:
        """See TextTask; lists of words have their own signature."""
        return "tag_words" if "words" in request else "tag"

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask; `start` and `end` count characters of the text."""
        count = row["num_words"]
        words = to_texts(row["words"][:count])
        tags = to_texts(row["tags"][:count])
        answer: Reply = {"words": words, "tags": tags}
        if "text" in request:
            text = request["text"]
            spans, end = [], 0
            for word in words:
                start = text.index(word, end)
                end = start + len(word)
                spans.append([start, end])
            answer["spans"] = spans
            answer["entities"] = [
                {
                    "type": entity_type,
                    "text": text[spans[first][0] : spans[last - 1][1]],
                    "start": spans[first][0],
                    "end": spans[last - 1][1],
                }
                for entity_type, first, last in scoring.find_entities(tags)
            ]
        return answer


class Embed(TextTask):
    """The vectors of a text, pooled and mean, and those of its WordPieces."""

    name = signature = "embed"
    fields = {"text": True}

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask."""
        sequence = row["sequence_output"][: row["lengths"]]
        # Over all WordPieces including [CLS] and [SEP], as in sentence models.
        vectors = {"pooled": row["pooled_output"], "mean": sequence.mean(0)}
        answer: Reply = {k: [*map(to_number, v)] for k, v in vectors.items()}
        if self.options.tokens:
            answer["tokens"] = to_texts(row["tokens"][: row["lengths"]])
            answer["sequence"] = [[*map(to_number, v)] for v in sequence]
        return answer


class Tokenize(_PairTask):
    """The WordPieces that the model reads of a text or a pair."""

    name = signature = "tokenize"

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask; `num_wordpieces` includes those that are cut off."""
        return {
            "tokens": to_texts(row["tokens"][: row["lengths"]]),
            "num_wordpieces": int(row["num_wordpieces"]),
        }


class Attention(_PairTask):
    """Attention weights between the WordPieces of a text or a pair."""

    name = signature = "attention"

    def read(self, request: Request, row: Row) -> Reply:
        """See TextTask; `attention` is by block, head, from and to."""
        count = row["lengths"]
        probs = row["attention_probs"][:, :, :count, :count]
        most = self.options.max_values
        if most is not None and probs.size > most:
            raise TooLarge(
                f"the attention of {count} WordPieces holds {probs.size} "
                f"values, more than {most}; send a shorter text"
            )
        if not np.isfinite(probs).all():
            raise ValueError("the model gives weights that are not finite")
        return {
            "tokens": to_texts(row["tokens"][:count]),
            "attention": np.round(probs.astype(np.float64), 6).tolist(),
        }


# In the order in which a model's default task is chosen.
TASKS: tuple[type[TextTask], ...] = (
    *(FillMask, NextSentence, Classify, Answer),
    *(Tag, Embed, Tokenize, Attention),
)
