"""The usual names of columns, by what the columns contain.

Readers guess columns by these names. Of the names of a role, a reader takes the
first that a table has.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

# A text to classify.
TEXT_NAMES = (
    "text",
    "sentence",
    "message",
    "content",
    "review",
    "comment",
    "body",
    "tweet",
    "question",
    "description",
    "title",
)
# The label of a text.
LABEL_NAMES = ("label", "labels", "class", "category", "target", "sentiment")
# {flag: names that tables often use for its column}.
USUAL_NAMES = {"text_column": TEXT_NAMES, "label_column": LABEL_NAMES}

_TITLE_NAMES = ("title", "subject", "headline", "summary")
_LONG_TEXT_NAMES = (
    "text",
    "selftext",
    "body",
    "content",
    "description",
    "message",
    "review",
)
_PASSAGE_NAMES = ("passage", "sentence", "context", "document", "paragraph")
# Columns of pairs such as text1 and text2, or question and question_pair.
_PAIR_STEMS = ("text", "sentence", "question", "string", "sent", "q", "s")
_PAIR_ENDINGS = (("1", "2"), ("a", "b"), ("", "2"), ("", "b"), ("", "pair"))
_NUMBERED_PAIRS = tuple(
    ((f"{stem}{first}",), (f"{stem}{second}",))
    for stem in _PAIR_STEMS
    for first, second in _PAIR_ENDINGS
)
# (names of the first texts of pairs, names of the second texts), as
# `simplify_name` returns them.
PAIR_NAMES = (
    (("question", "query"), (*_PASSAGE_NAMES, "answer", "text")),
    (("premise", "claim"), ("hypothesis", "evidence")),
    (("context", "prompt"), ("response", "reply")),
    (_TITLE_NAMES, (*_LONG_TEXT_NAMES, "abstract", "article", "comment")),
    *_NUMBERED_PAIRS,
)

# Columns of one word, and of its tag, as `letters_of` returns them.
WORD_NAMES = ("word", "words", "token", "tokens", "form", "text", "sentence")
TAG_NAMES = (
    "nertag",
    "nertags",
    "ner",
    "tag",
    "tags",
    "label",
    "labels",
    "entity",
    "iob",
    "bio",
    "wordlabels",
)
# Matches the letters of columns that number sentences.
SENTENCE_NUMBER = re.compile("sent(ence)?(id|no|num|number|idx|index)?")

# Keys of the list of a sentence's words, and of the list of their tags.
WORD_LIST_NAMES = ("tokens", "words")
TAG_LIST_NAMES = ("ner_tags", "tags", "labels", "label")
# Keys of a text's spans. Only one of them may contain spans, unless all contain
# the same. doccano and Label Studio's shorter export write `label`, or `labels`
# in older versions.
SPAN_NAMES = ("entities", "spans", "ents", "label", "labels")

# The text of the only answer to a question.
ANSWER_NAMES = ("answer", "answer_text", "text")

# Names that show that a first line names columns, as `simplify_name` returns
# them. Names such as `form`, which may well be a cell, are not here.
_HEADER_NAME_LIST = """
answer answers author body category class comment content context date
description document entity feedback gold headline hypothesis id idx index
iob key label labels language message messages name ner nertags paragraph
passage polarity premise query question quality rating reply response review
reviews score sentence sentences sentiment source split status subject
summary tag tags target text texts ticket time timestamp title token tokens
topic tweet type user utterance value word words text1 text2 texta textb
sentence1 sentence2 sentencea sentenceb question1 question2 commenttext
goldlabel isduplicate
"""
_HEADER_NAMES = frozenset(_HEADER_NAME_LIST.split())


def simplify_name(name: str) -> str:
    """Returns a name in lower case, without blanks and other marks."""
    return re.sub(r"[\W_]", "", name).casefold()


def is_usual_name(name: str, columns: Collection[str]) -> bool:
    """Returns whether a cell is a usual name of a column, or of `columns`."""
    return name in columns or simplify_name(name) in _HEADER_NAMES


def letters_of(name: str) -> str:
    """Returns the letters a to z of a name: sentenceid for `Sentence_ID #1`."""
    return re.sub("[^a-z]", "", name.lower())


def guess_columns(
    columns: Iterable[str], flags: Sequence[str] = tuple(USUAL_NAMES)
) -> dict[str, str | None]:
    """Guesses by their names which columns contain the text and the label.

    If no column has a usual name for a flag, and the other flag leaves only one
    column, this column is guessed.

    Examples:
        >>> guess_columns(["Text", "queue"])
        {'text_column': 'Text', 'label_column': 'queue'}
        >>> guess_columns(["id", "Text", "queue"])
        {'text_column': 'Text', 'label_column': None}

    Args:
        columns: names of the table's columns.
        flags: "text_column" and "label_column", or one of them.

    Returns:
        {flag: name of a column, or None}.
    """
    free = [*columns]
    column_of_flag: dict[str, str | None] = {}
    for flag in flags:
        usual_columns = (
            column
            for name in USUAL_NAMES[flag]
            for column in free
            if column.casefold() == name
        )
        column_of_flag[flag] = next(usual_columns, None)
        free = [column for column in free if column != column_of_flag[flag]]
    for flag in flags:
        if column_of_flag[flag] is None and len(free) == 1:
            column_of_flag[flag] = free.pop()
    return column_of_flag


class PairOfTexts(NamedTuple):
    """The columns of the two texts of pairs."""

    text_column: str
    text_b_column: str


def find_pair_columns(columns: Iterable[str]) -> PairOfTexts | None:
    """Returns two columns whose usual names say that they are a pair, or None.

    Examples:
        >>> find_pair_columns(["id", "Sentence 1", "Sentence 2"])
        PairOfTexts(text_column='Sentence 1', text_b_column='Sentence 2')
    """
    column_of_name = {simplify_name(column): column for column in columns}
    for firsts, seconds in PAIR_NAMES:
        first = next(filter(column_of_name.get, firsts), None)
        second = next(filter(column_of_name.get, seconds), None)
        if first and second:
            return PairOfTexts(column_of_name[first], column_of_name[second])
    return None
