"""SQuAD inside a graph: maps WordPieces back to the passage's own text.

S = spans of WordPieces. For passages' WordPieces, characters and letters see
windows_layer.py.
"""

from typing import NamedTuple

import tensorflow as tf

from data.squad.windows_layer import Passages


class Spans(NamedTuple):
    """Possible answers of all questions.

    Attributes:
        rows: int64 [S], the question.
        starts: int64 [S], the first WordPiece; -1 for no answer.
        ends: int64 [S], the last.
        start_logits: float64 [S].
        end_logits: float64 [S].
    """

    rows: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor
    start_logits: tf.Tensor
    end_logits: tf.Tensor

    @property
    def scores(self) -> tf.Tensor:
        """float64 [S]."""
        return self.start_logits + self.end_logits

    def gather(self, indexes: tf.Tensor) -> "Spans":
        """Returns the spans at some indexes."""
        return Spans(*(tf.gather(value, indexes) for value in self))


def span_texts(
    spans: Spans, passages: Passages, use_char_offsets: bool
) -> tf.Tensor:
    """Returns the texts of spans, string [S]; "" for no answer.

    Args:
        spans: Spans.
        passages: Passages.
        use_char_offsets: whether they are cut out of the passage as it is;
            else white space is a single space, and `letters_of` differs.
    """
    real = tf.where(spans.starts >= 0)
    spans_with_text = spans.gather(real[:, 0])
    first, last = letters_of(spans_with_text, passages, use_char_offsets)
    if use_char_offsets:
        texts, starts, ends = passages.contexts, passages.starts, passages.ends
    else:
        texts, starts, ends = (
            passages.texts,
            passages.letter_starts,
            passages.letter_ends,
        )
    starts, ends = tf.gather(starts, first), tf.gather(ends, last)
    texts = tf.strings.substr(
        tf.gather(texts, spans_with_text.rows), starts, ends - starts
    )
    texts = tf.strings.unicode_transcode(
        texts, "UTF-8", "UTF-8", errors="ignore"
    )
    return tf.tensor_scatter_nd_update(
        tf.fill([tf.size(spans.starts)], ""), real, texts
    )


def letters_of(
    spans: Spans, passages: Passages, use_char_offsets: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the first and last letter, int32 [S], of spans' final texts.

    Those are where the tokens stand, with character offsets. Else they are
    as get_final_text leads back: the characters of the spans' words, as
    tokenized, are taken one to one for the words' letters. They are sought by
    their text, so "a" of "an ##a" is found at the first; where the numbers
    differ, or part of it is unknown, all letters of the words are taken.
    """
    first_char = tf.gather(passages.first_char, spans.starts)
    last_char = tf.gather(passages.last_char, spans.ends)
    if use_char_offsets:
        last = tf.gather(passages.char_letters, last_char)
        return (
            tf.gather(passages.char_letters, first_char),
            tf.gather(passages.last_letters, last),
        )
    first_word = tf.gather(passages.char_words, first_char)
    last_word = tf.gather(passages.char_words, last_char)
    word_char = tf.gather(passages.word_chars, first_word)
    num_chars = tf.gather(passages.word_chars, last_word + 1) - word_char
    letter = tf.gather(passages.word_letters, first_word)
    num_letters = tf.gather(passages.word_letters, last_word + 1) - letter
    is_known = tf.gather(passages.num_unknown, spans.starts) == tf.gather(
        passages.num_unknown, spans.ends + 1
    )
    is_aligned = is_known & (num_chars == num_letters)
    # Only inside of its word can a text be found before its own place.
    sought = tf.where(is_aligned & (first_char > word_char))
    found_char = tf.tensor_scatter_nd_update(
        first_char,
        sought,
        _find_chars(
            tf.gather(spans.rows, sought[:, 0]),
            tf.gather_nd(word_char, sought),
            tf.gather_nd(first_char, sought),
            tf.gather_nd(last_char, sought),
            passages,
        ),
    )
    first = letter + found_char - word_char
    return (
        tf.where(is_aligned, first, letter),
        tf.where(
            is_aligned,
            first + last_char - first_char,
            letter + num_letters - 1,
        ),
    )


def _find_chars(
    rows: tf.Tensor,
    from_char: tf.Tensor,
    first_char: tf.Tensor,
    last_char: tf.Tensor,
    passages: Passages,
) -> tf.Tensor:
    """Returns where the text of characters is found first, int32 [S].

    Args:
        rows: int64 [S], the passages.
        from_char: int32 [S], where to begin to seek.
        first_char: int32 [S], where the text sought begins.
        last_char: int32 [S], where it ends.
        passages: Passages.
    """
    row_starts = tf.gather(passages.tokenized_starts, rows)
    begins = tf.gather(passages.char_starts, from_char)
    own = tf.gather(passages.char_starts, first_char)
    ends = tf.gather(passages.char_ends, last_char)
    tokenized = tf.gather(passages.tokenized, rows)
    before = tf.map_fn(
        lambda texts: _bytes_before(*texts),
        (
            tf.strings.substr(tokenized, begins - row_starts, ends - begins),
            tf.strings.substr(tokenized, own - row_starts, ends - own),
        ),
        fn_output_signature=tf.int32,
    )
    return tf.searchsorted(passages.char_starts, begins + before)


def _bytes_before(text: tf.Tensor, part: tf.Tensor) -> tf.Tensor:
    """Returns how many bytes of a text, int32, are before a part of it."""
    parts = tf.raw_ops.StringSplitV2(input=[text], sep=part, maxsplit=1)
    return tf.strings.length(parts.values[0])
