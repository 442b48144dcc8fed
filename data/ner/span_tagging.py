"""Tags the words that labeled spans cover, and checks the units of the spans.

The tags are in IOB2. A span that begins or ends inside a word is widened to the
complete word. But if most spans do, they count other units than characters,
which is an error:

    {"text": "\N{GRINNING FACE} Anna left", "entities": [[3, 7, "PER"]]}

This span counts UTF-16 units, so that it is "nna ". Other files count bytes,
words, or what a reader sees as one character. Right spans may also begin or end
inside words, such as "Anna" in "Anna's". But in one file, right spans do only
one of the two, because a language adds either endings or beginnings to words.
Wrong units move both the beginning and the end.
"""

import bisect
import unicodedata
from collections.abc import Collection, Sequence
from typing import NamedTuple

from data.ner.labeled_spans import (
    LabeledSpan,
    describe_span,
    parse_span_of_text,
)
from data.ner.ner_examples import find_words
from data.text.characters import CharacterSpan, is_cjk
from files.paths import StrPath

# Blocks of scripts without spaces between words: Thai and Lao, Tibetan and
# Burmese, Khmer, kana.
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),
    (0x0F00, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9F),
)


class TaggedSpan(NamedTuple):
    """A span of a file, compared with the words of its text.

    Attributes:
        label: its label.
        is_start_wrong: whether the span begins inside a word, or with space.
        is_end_wrong: whether the span ends inside a word, or with space.
        may_move: whether another unit would move the span.
        problem: for a message, if the span is wrong: its place, and what is
            wrong.
        widened: for messages, the span and the complete words to which it was
            widened, "" if it was not.
    """

    label: str
    is_start_wrong: bool
    is_end_wrong: bool
    may_move: bool
    problem: str
    widened: str


class TaggedText(NamedTuple):
    """The tags of a text's words.

    Attributes:
        tags: a tag for each word.
        spans: the spans that the tags come from, in the order of the text.
    """

    tags: list[str]
    spans: list[TaggedSpan]


def tag_words(
    text: str, words: Sequence[str], values: Sequence[object], place: str
) -> TaggedText:
    """Tags the words of a text that spans cover.

    Args:
        text: the text in which the spans count characters.
        words: the words of the text, in its order.
        values: JSON values of the spans.
        place: place of the text, for messages.

    Raises:
        ValueError: a span is malformed, contains no word, or overlaps the words
            of another span.
    """
    word_spans = find_words(text, words)
    # {span: its value in the file}
    value_of_span = {
        parse_span_of_text(value, text, place): value for value in values
    }
    tags = ["O"] * len(word_spans)
    spans = []
    for span in sorted(value_of_span):
        covered = _find_covered_words(word_spans, span)
        _check_words_are_free(tags[covered], span, text, place)
        tags[covered] = [f"I-{span.label}"] * len(tags[covered])
        tags[covered.start] = f"B-{span.label}"
        covered_spans = word_spans[covered]
        complete = text[covered_spans[0].start : covered_spans[-1].end]
        spans.append(
            _create_tagged_span(
                span, value_of_span[span], complete, text, place
            )
        )
    return TaggedText(tags, spans)


def _find_covered_words(
    word_spans: Sequence[CharacterSpan], span: LabeledSpan
) -> slice:
    """Returns the slice of the words that a span overlaps.

    Examples:
        >>> word_spans = find_words("Anna Lind left", ["Anna", "Lind", "left"])
        >>> _find_covered_words(word_spans, LabeledSpan(7, 12, "PER"))
        slice(1, 3, None)
    """
    start = bisect.bisect_right(
        word_spans, span.start, key=lambda word: word.end
    )
    end = bisect.bisect_left(word_spans, span.end, key=lambda word: word.start)
    return slice(start, end)


def _check_words_are_free(
    tags: Sequence[str], span: LabeledSpan, text: str, place: str
) -> None:
    """Raises a ValueError if a span covers no word, or a word that has a tag.

    `tags` are the tags of the words that the span covers.
    """
    if {*tags} != {"O"}:
        raise ValueError(
            f"{place}: the span {describe_span(span, text)} contains no word, "
            f"or overlaps the words of another span. Text: {text[:80]!r}"
        )


def _create_tagged_span(
    span: LabeledSpan, value: object, complete: str, text: str, place: str
) -> TaggedSpan:
    """Compares a span with the words that it covers.

    Args:
        span: the span, with positions in `text`.
        value: the same as it stands in the file, for messages.
        complete: the text of the words that the span touches, uncut.
        text: the text that contains the span.
        place: place of the text, for messages.
    """
    start, end, label = span
    is_complete = complete == text[start:end].strip()
    # The text of the span, if it has one, has confirmed its place.
    is_confirmed = isinstance(value, dict) and "text" in value
    may_be_wrong = not (is_complete or is_confirmed)
    cuts_start = _is_inside(text, start) or text[start].isspace()
    cuts_end = _is_inside(text, end) or text[end - 1].isspace()
    before = text[:end]
    widened = f"{describe_span(span, text)} to {complete!r}"
    return TaggedSpan(
        label,
        is_start_wrong=may_be_wrong and cuts_start,
        is_end_wrong=may_be_wrong and cuts_end,
        may_move=not before.isascii() or "\r\n" in before,
        problem=(
            f"{place}: the span [{start}, {end}], {text[start:end]!r}, begins "
            f"or ends inside a word of {text[:80]!r}"
        ),
        widened="" if is_complete else widened,
    )


def _is_inside(text: str, index: int) -> bool:
    """Returns whether a place is between two letters, or inside an emoji."""
    if not 0 < index < len(text):
        return False
    before_and_after = text[index - 1 : index + 1]
    return {*map(_classify_character, before_and_after)} in (
        {"letter"},
        {"sign"},
    )


def _classify_character(char: str) -> str:
    """Returns "letter", "sign" for a part of an emoji, or "" for the rest.

    The rest includes the letters of scripts without spaces.
    """
    code = ord(char)
    if is_cjk(code) or any(
        low <= code <= high for low, high in _WITHOUT_SPACES
    ):
        return ""
    category = unicodedata.category(char)
    if category[0] in "LNM":
        return "letter"
    return "sign" if category in ("So", "Sk", "Cf") else ""


def check_span_labels(path: StrPath, labels: Collection[str]) -> None:
    """Checks that the spans of a file are entities, not single tagged words.

    `path` is the file, for the message.

    Raises:
        ValueError: the labels are tags of words, such as B-PER and I-PER.
    """
    tags = [
        label
        for label in labels
        if label[:2] == "B-" and f"I{label[1:]}" in labels
    ]
    if tags:
        raise ValueError(
            f"{path}: the labels of spans are tags of words, such as "
            f"{tags[0]!r}. Set one span for each entity, labeled with its type"
        )


def check_units(spans: Sequence[TaggedSpan]) -> None:
    """Checks that the spans of a file count the unit that is expected.

    They seem to count another unit if most of all spans, or most of the spans
    that another unit would move, begin or end inside a word.

    Raises:
        ValueError: the spans seem to count another unit.
    """
    _check_most_fit(spans, min_wrong=2)
    _check_most_fit([span for span in spans if span.may_move], min_wrong=3)


def _check_most_fit(spans: Sequence[TaggedSpan], min_wrong: int) -> None:
    """Raises a ValueError if most spans begin or end inside a word.

    There must be at least `min_wrong` such spans. At least a quarter of these
    spans must begin inside a word, and at least a quarter must end inside one.
    """
    num_wrong_starts = sum(span.is_start_wrong for span in spans)
    num_wrong_ends = sum(span.is_end_wrong for span in spans)
    wrong = [span for span in spans if span.is_start_wrong or span.is_end_wrong]
    is_both = 4 * min(num_wrong_starts, num_wrong_ends) >= len(wrong)
    if is_both and len(wrong) >= max(min_wrong, len(spans) // 2 + 1):
        raise ValueError(
            f"{wrong[0].problem}. So do {len(wrong)} of {len(spans)} "
            "spans. Positions count characters (Unicode code points), not "
            "bytes, UTF-16 units or words"
        )
