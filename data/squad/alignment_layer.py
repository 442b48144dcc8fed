"""SQuAD inside a graph: maps WordPieces back to the passage's own text.

One passage is processed at a time without a copy: only the text of a span is
cut out of it.

S = spans of WordPieces. For passages' WordPieces, characters and letters see
windows_layer.py.
"""

from typing import NamedTuple

import tensorflow as tf

from data.squad.windows_layer import Passages
from data.text.tokenizer_layer import drop_invalid


class Spans(NamedTuple):
    """Possible answers of a question.

    Attributes:
        starts: int64 [S], the first WordPiece; -1 for no answer.
        ends: int64 [S], the last.
        start_logits: float64 [S].
        end_logits: float64 [S].
    """

    starts: tf.Tensor
    ends: tf.Tensor
    start_logits: tf.Tensor
    end_logits: tf.Tensor

    @property
    def scores(self) -> tf.Tensor:
        """float64 [S]."""
        return self.start_logits + self.end_logits

    def gather(self, indexes: tf.Tensor) -> "Spans":
        """Selects spans by index."""
        return Spans(*(tf.gather(value, indexes) for value in self))

    def concat(self, other: "Spans") -> "Spans":
        """Appends other spans to these."""
        pairs = zip(self, other, strict=True)
        return Spans(*(tf.concat(pair, 0) for pair in pairs))


class Letters(NamedTuple):
    """Positions of spans in their passage.

    Attributes:
        first: int32 [S], the first letter of each.
        last: int32 [S], its last.
        word_char: int32 [S], the first character of its first word, if an
            earlier equal text in that word is used instead; else -1.
    """

    first: tf.Tensor
    last: tf.Tensor
    word_char: tf.Tensor


def first_of_equals(keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Finds equal values of keys, [S].

    Returns:
        (firsts, numbers): int32, ascending, where a value is for the first
        time; int32 [S], which of `firsts` equals each value.
    """
    values, numbers = tf.unique(keys)
    firsts = tf.math.unsorted_segment_min(
        tf.range(tf.size(numbers)), numbers, tf.size(values)
    )
    return firsts, numbers


def remove_repeated(
    spans: Spans, passages: Passages, use_char_offsets: bool
) -> Spans:
    """Drops spans covering the same letters as an earlier one."""
    firsts, _ = first_of_equals(
        _keys(_letters_at(spans, passages, use_char_offsets))
    )
    return spans.gather(firsts)


def span_texts(
    spans: Spans, row: tf.Tensor, passages: Passages, use_char_offsets: bool
) -> tf.Tensor:
    """Returns the texts of spans, string [S].

    Args:
        spans: Spans of one passage, without "no answer".
        row: int32, the passage.
        passages: Passages.
        use_char_offsets: whether they are cut out of the passage as it is;
            else white space is a single space, and `letters_of` differs.
    """
    letters = letters_of(spans, row, passages, use_char_offsets)
    firsts, numbers = first_of_equals(_keys(letters))
    first = tf.gather(letters.first, firsts)
    last = tf.gather(letters.last, firsts)
    if use_char_offsets:
        text, starts = passages.contexts[row], passages.starts
    else:
        text, starts = passages.texts[row], passages.letter_starts
    ends = tf.gather(starts, last) + _at(passages.sizes, last)
    texts = drop_invalid(_substrings(text, tf.gather(starts, first), ends))
    return tf.gather(texts, numbers)


def letters_of(
    spans: Spans, row: tf.Tensor, passages: Passages, use_char_offsets: bool
) -> Letters:
    """Returns the Letters of spans' final texts.

    With character offsets, those of the tokens. Otherwise as get_final_text
    finds them: the characters of the spans' words, as tokenized, are matched
    one to one with the words' letters. They are searched by text, so "a" of
    "an ##a" is found at the first; if the numbers differ, or part of the text
    is unknown, all letters of the words are used.

    Args:
        spans: Spans of one passage, without "no answer".
        row: int32, the passage.
        passages: Passages.
        use_char_offsets: see `span_texts`.
    """
    letters = _letters_at(spans, passages, use_char_offsets)
    if use_char_offsets:
        return letters
    sought = tf.where(letters.word_char >= 0)
    first_char = tf.gather(
        passages.first_char, tf.gather_nd(spans.starts, sought)
    )
    places = _find_chars(
        tf.gather_nd(letters.word_char, sought),
        first_char,
        tf.gather(passages.first_char, tf.gather_nd(spans.ends, sought) + 1)
        - 1,
        row,
        passages,
    )
    shift = tf.scatter_nd(
        sought, places - first_char, tf.shape(spans.starts, tf.int64)
    )
    return Letters(
        letters.first + shift, letters.last + shift, letters.word_char
    )


def _letters_at(
    spans: Spans, passages: Passages, use_char_offsets: bool
) -> Letters:
    """Returns the Letters of spans at their own positions, without a search."""
    first_char = tf.gather(passages.first_char, spans.starts)
    last_char = tf.gather(passages.first_char, spans.ends + 1) - 1
    if use_char_offsets:
        last = tf.gather(passages.char_letters, last_char)
        return Letters(
            tf.gather(passages.char_letters, first_char),
            tf.gather(passages.last_letters, last),
            tf.fill(tf.shape(last), -1),
        )
    first_word, last_word = (
        tf.searchsorted(passages.word_chars, char, side="right") - 1
        for char in (first_char, last_char)
    )
    word_char = tf.gather(passages.word_chars, first_word)
    num_chars = tf.gather(passages.word_chars, last_word + 1) - word_char
    letter = tf.gather(passages.word_letters, first_word)
    num_letters = tf.gather(passages.word_letters, last_word + 1) - letter
    is_known = tf.gather(passages.num_unknown, spans.starts) == tf.gather(
        passages.num_unknown, spans.ends + 1
    )
    is_aligned = is_known & (num_chars == num_letters)
    shift = letter - word_char
    # A text can be found before its own position only inside its word.
    return Letters(
        tf.where(is_aligned, first_char + shift, letter),
        tf.where(is_aligned, last_char + shift, letter + num_letters - 1),
        tf.where(is_aligned & (first_char > word_char), word_char, -1),
    )


def _keys(letters: Letters) -> tf.Tensor:
    """Returns int64 [S], equal for spans of the same letters."""
    first, last = (tf.cast(value, tf.int64) for value in letters[:2])
    return first * 2**32 + last * 2 + tf.cast(letters.word_char >= 0, tf.int64)


def _find_chars(
    word_char: tf.Tensor,
    first_char: tf.Tensor,
    last_char: tf.Tensor,
    row: tf.Tensor,
    passages: Passages,
) -> tf.Tensor:
    """Returns where the text of characters first occurs, int32 [S].

    Args:
        word_char: int32 [S], start of the search.
        first_char: int32 [S], start of the text to find.
        last_char: int32 [S], its end.
        row: int32, the passage.
        passages: Passages.
    """
    row_start = passages.tokenized_starts[row]
    text = passages.tokenized[row]
    begins, own, last = (
        tf.gather(passages.char_starts, char) - row_start
        for char in (word_char, first_char, last_char)
    )
    ends = last + _at(passages.char_sizes, last_char)
    parts = _substrings(text, own, ends)
    # Searches for equal texts in the same word once.
    firsts, numbers = first_of_equals(
        tf.strings.join([tf.strings.as_string(word_char), parts], " ")
    )
    before = tf.map_fn(
        lambda part: _bytes_before(
            tf.strings.substr(text, part[0], part[1] - part[0]), part[2]
        ),
        tuple(tf.gather(value, firsts) for value in (begins, ends, parts)),
        fn_output_signature=tf.int32,
    )
    before = tf.gather(before, numbers)
    return tf.searchsorted(passages.char_starts, row_start + begins + before)


def _bytes_before(text: tf.Tensor, part: tf.Tensor) -> tf.Tensor:
    """Returns the byte offset, int32, of a part of a text."""
    parts = tf.raw_ops.StringSplitV2(input=[text], sep=part, maxsplit=1)
    return tf.strings.length(parts.values[0])


def _substrings(
    text: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor
) -> tf.Tensor:
    """Returns parts of one text, string [S], without copying the text."""
    return tf.map_fn(
        lambda part: tf.strings.substr(text, part[0], part[1] - part[0]),
        (starts, ends),
        fn_output_signature=tf.string,
    )


def _at(sizes: tf.Tensor, indexes: tf.Tensor) -> tf.Tensor:
    """Gathers int8 sizes as int32."""
    return tf.cast(tf.gather(sizes, indexes), tf.int32)
