"""Finds the spans that may be SQuAD's answers, and their texts, in a graph.

The code finds the texts in one passage at a time. It copies only the texts of
spans, not the passage.

N = questions, W = windows, S = spans of WordPieces, B = number of starts, and
also of ends, that `SquadDecoder.find_best` selects from each window.
"Characters" are characters of the passage after normalization. "Letters" are
its characters before normalization, except white space. windows_layer.py finds
both.
"""

from collections.abc import Mapping
from typing import NamedTuple

import tensorflow as tf

from data.squad.decoding import NO_ANSWER_SCORE_DIFF
from data.squad.windows_layer import WHITE_SPACE_RUN, Passages
from data.text.tokenizer_layer import drop_invalid
from data.text.windows_layer import Windows


class Spans(NamedTuple):
    """S spans of WordPieces that may be the answer to a question.

    WordPieces are numbered through all passages.

    Attributes:
        starts: int64 [S], the first WordPiece, or -1 for no answer.
        ends: int64 [S], the last WordPiece, or -1 for no answer.
        start_logits: float64 [S], start logits at the first WordPieces.
        end_logits: float64 [S], end logits at the last WordPieces.
    """

    starts: tf.Tensor
    ends: tf.Tensor
    start_logits: tf.Tensor
    end_logits: tf.Tensor

    @property
    def scores(self) -> tf.Tensor:
        """Sum of each span's start and end logit, float64 [S]."""
        return self.start_logits + self.end_logits

    def gather(self, indexes: tf.Tensor) -> "Spans":
        """Returns the spans with the indices `indexes`, an int vector."""
        return Spans(*(tf.gather(value, indexes) for value in self))

    def concat(self, other: "Spans") -> "Spans":
        """Appends the spans of `other` to these spans."""
        pairs = zip(self, other, strict=True)
        return Spans(*(tf.concat(pair, 0) for pair in pairs))


def find_spans(
    begin: tf.Tensor,
    end: tf.Tensor,
    windows: Windows,
    first_places: tf.Tensor,
    best: Mapping[str, tf.Tensor],
    max_answer_length: int,
) -> Spans:
    """Combines the best starts and ends of windows into possible answers.

    Args:
        begin: int32, index of the first window to read.
        end: int32, index after the last window to read.
        windows: all W windows.
        first_places: int64 [W], position in each window at which the passage
            begins.
        best: result of `SquadDecoder.find_best` for all windows.
        max_answer_length: maximum length of an answer in WordPieces.

    Returns:
        Spans, sorted by window, then from the highest to the lowest start
        logit, then from the highest to the lowest end logit.
    """
    best = {name: values[begin:end] for name, values in best.items()}
    part = windows.slice(begin, end)
    first_tokens, lengths = part.starts[:, None], part.lengths[:, None]
    shift = first_places[begin:end, None]
    starts = tf.cast(best["starts"], tf.int64) - shift
    ends = tf.cast(best["ends"], tf.int64) - shift
    is_start = (starts >= 0) & (starts < lengths)
    # If several windows contain a token, let answers start at it only in the
    # window with the most context around it.
    tokens = first_tokens + tf.where(is_start, starts, 0)
    numbers = tf.range(tf.cast(begin, tf.int64), tf.cast(end, tf.int64))
    is_start &= windows.most_context(tokens) == numbers[:, None]
    # For each pair of a start and an end in a window, count the WordPieces
    # after the start, up to the end.
    num_further = ends[:, None, :] - starts[:, :, None]
    index = tf.where(
        is_start[:, :, None]
        & (ends < lengths)[:, None, :]
        & (num_further >= 0)
        & (num_further < max_answer_length)
    )
    at_start, at_end = index[:, :2], index[:, ::2]
    return Spans(
        starts=tf.gather_nd(tokens, at_start),
        ends=tf.gather_nd(first_tokens + ends, at_end),
        start_logits=tf.cast(
            tf.gather_nd(best["start_logits"], at_start), tf.float64
        ),
        end_logits=tf.cast(
            tf.gather_nd(best["end_logits"], at_end), tf.float64
        ),
    )


def find_null(
    best: Mapping[str, tf.Tensor], begin: tf.Tensor, end: tf.Tensor
) -> tuple[Spans, tf.Tensor]:
    """Returns the span of "no answer" to one question, and its score.

    This span contains only [CLS], in the window where [CLS] has the lowest
    score.

    Args:
        best: result of `SquadDecoder.find_best` for all windows.
        begin: int32, index of the question's first window.
        end: int32, index after the question's last window.

    Returns:
        (Spans [1], score, float64).
    """
    # The last values are the result for a question without windows.
    start_logits, end_logits = (
        tf.concat([tf.cast(logits[begin:end], tf.float64), [0.0]], 0)
        for logits in (best["null_start_logits"], best["null_end_logits"])
    )
    scores = (start_logits + end_logits)[:-1]
    scores = tf.concat([scores, [NO_ANSWER_SCORE_DIFF]], 0)
    lowest = tf.reduce_min(scores)
    # If a score is NaN, no score equals the lowest one. Choose the last values.
    places = tf.where(scores == lowest)[:, 0]
    first = tf.concat([places, [tf.size(scores, tf.int64) - 1]], 0)[:1]
    nothing = tf.constant([-1], tf.int64)
    null = Spans(
        nothing,
        nothing,
        tf.gather(start_logits, first),
        tf.gather(end_logits, first),
    )
    return null, lowest


def order_by_score(spans: Spans) -> tf.Tensor:
    """Returns the indices that sort spans by score, best first, int32 [S].

    Spans with equal scores keep their order.
    """
    return tf.argsort(spans.scores, direction="DESCENDING", stable=True)


# Positions of S spans in the passages before normalization: the number of the
# first letter of each span, and of its last letter, int32 [S] each. And the
# index, int32 [S], of the normalized character that begins the span's first
# word, if the span's text must be searched from there, otherwise -1.
Letters = tuple[tf.Tensor, tf.Tensor, tf.Tensor]


def first_of_equals(keys: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Finds repeated values in `keys`, [S].

    Returns:
        (firsts, numbers). `firsts`, int32, ascending, are the indices at which
        a value first occurs. `numbers`, int32 [S], is the index into `firsts`
        for each key, so that keys[firsts[numbers]] equals keys.
    """
    values, numbers = tf.unique(keys)
    firsts = tf.math.unsorted_segment_min(
        tf.range(tf.size(numbers)), numbers, tf.size(values)
    )
    return firsts, numbers


class Alignment(NamedTuple):
    """Finds the text of spans of WordPieces in their passage.

    Attributes:
        passages: all passages.
        row: int32, index of the passage that contains the spans.
        use_char_offsets: True to cut texts out of the unchanged passage at the
            characters of their first and last WordPiece. False to find texts
            as `decoding.get_final_text` does, with white space replaced by
            single spaces.
    """

    passages: Passages
    row: tf.Tensor
    use_char_offsets: bool

    def remove_repeated(self, spans: Spans) -> Spans:
        """Keeps only the first of several spans at one place in the passage."""
        firsts, _ = first_of_equals(_keys(*self._letters_at(spans)))
        return spans.gather(firsts)

    def find_texts(self, spans: Spans) -> tf.Tensor:
        """Returns the texts of spans, string [S].

        `spans` must not contain "no answer".
        """
        letters = self._find_letters(spans)
        firsts, numbers = first_of_equals(_keys(*letters))
        begins, ends = self._offsets(
            *(tf.gather(value, firsts) for value in letters[:2])
        )
        text = self.passages.contexts[self.row]
        texts = drop_invalid(_substrings(text, begins, ends))
        if not self.use_char_offsets:
            texts = tf.strings.regex_replace(texts, WHITE_SPACE_RUN, " ")
        return tf.gather(texts, numbers)

    def find_bytes(self, spans: Spans) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the byte offsets of spans in the passage.

        Returns:
            (starts, ends), int32 [S] each. An end is exclusive. Both are -1 for
            "no answer".
        """
        real = tf.where(spans.starts >= 0)
        first, last, _ = self._find_letters(spans.gather(real[:, 0]))
        nowhere = tf.fill([tf.size(spans.starts)], -1)
        starts, ends = (
            tf.tensor_scatter_nd_update(nowhere, real, offsets)
            for offsets in self._offsets(first, last)
        )
        return starts, ends

    def _offsets(
        self, first: tf.Tensor, last: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the bytes where `first` letters begin and `last` ones end.

        `first` and `last` are numbers of letters, int32. The results are
        offsets in the passage of these letters.
        """
        starts = self.passages.starts
        size = _at(self.passages.sizes, last)
        return tf.gather(starts, first), tf.gather(starts, last) + size

    def _find_letters(self, spans: Spans) -> Letters:
        """Finds the first and last letter of the text of each span.

        With character offsets, these are letters of the span's WordPieces.
        Otherwise, the code searches the span's words for its text, as
        `get_final_text` does, so it finds the "##a" of "an ##a" at the first
        "a". If the words' numbers of characters and letters differ, or the span
        contains [UNK], the text contains all letters of the words.

        `spans` must not contain "no answer".
        """
        first, last, word_char = self._letters_at(spans)
        if self.use_char_offsets:
            return first, last, word_char
        sought = tf.where(word_char >= 0)
        first_char, last_char = self._chars_of(spans.gather(sought[:, 0]))
        places = self._find_chars(
            tf.gather_nd(word_char, sought), first_char, last_char
        )
        shift = tf.scatter_nd(
            sought, places - first_char, tf.shape(spans.starts, tf.int64)
        )
        return first + shift, last + shift, word_char

    def _chars_of(self, spans: Spans) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the index of each span's first and last character."""
        first_char = tf.gather(self.passages.first_char, spans.starts)
        next_char = tf.gather(self.passages.first_char, spans.ends + 1)
        return first_char, next_char - 1

    def _letters_at(self, spans: Spans) -> Letters:
        """Locates each span in the passage by the position of its WordPieces.

        Unlike `_find_letters`, does not search for an earlier occurrence of the
        span's text.
        """
        passages = self.passages
        first_char, last_char = self._chars_of(spans)
        if self.use_char_offsets:
            last = tf.gather(passages.char_letters, last_char)
            return (
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
        # The third value is -1 if no search is needed. Only a text that begins
        # inside its word may occur earlier in this word, so search only for it.
        return (
            tf.where(is_aligned, first_char + shift, letter),
            tf.where(is_aligned, last_char + shift, letter + num_letters - 1),
            tf.where(is_aligned & (first_char > word_char), word_char, -1),
        )

    def _find_chars(
        self, word_char: tf.Tensor, first_char: tf.Tensor, last_char: tf.Tensor
    ) -> tf.Tensor:
        """Finds where S texts first occur in the normalized passage.

        All arguments and the result are indices of characters, int32 [S].

        Args:
            word_char: character at which the search for each text starts.
            first_char: first character of each text.
            last_char: last character of each text.
        """
        passages = self.passages
        sizes = tf.strings.length(passages.tokenized[: self.row])
        row_start = tf.reduce_sum(sizes)
        text = passages.tokenized[self.row]
        begins, own, last = (
            tf.gather(passages.char_starts, char) - row_start
            for char in (word_char, first_char, last_char)
        )
        ends = last + _at(passages.char_sizes, last_char)
        parts = _substrings(text, own, ends)
        # Search only once for several equal texts in the same word.
        firsts, numbers = first_of_equals(
            tf.strings.join([tf.strings.as_string(word_char), parts], " ")
        )

        def bytes_before(part: tuple[tf.Tensor, ...]) -> tf.Tensor:
            begin, end, sought = part
            searched = tf.strings.substr(text, begin, end - begin)
            parts = tf.raw_ops.StringSplitV2(
                input=[searched], sep=sought, maxsplit=1
            )
            return tf.strings.length(parts.values[0])

        before = tf.map_fn(
            bytes_before,
            tuple(tf.gather(value, firsts) for value in (begins, ends, parts)),
            fn_output_signature=tf.int32,
        )
        before = tf.gather(before, numbers)
        return tf.searchsorted(
            passages.char_starts, row_start + begins + before
        )


def _keys(first: tf.Tensor, last: tf.Tensor, word_char: tf.Tensor) -> tf.Tensor:
    """Returns one number for each span, int64 [S].

    Spans with the same position in the passage get the same number.
    """
    first, last = (tf.cast(value, tf.int64) for value in (first, last))
    return first * 2**32 + last * 2 + tf.cast(word_char >= 0, tf.int64)


def _substrings(
    text: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor
) -> tf.Tensor:
    """Cuts S parts out of one text, which is not copied.

    `starts` and `ends` are byte offsets, int32 [S]. An end is exclusive.
    """
    return tf.map_fn(
        lambda part: tf.strings.substr(text, part[0], part[1] - part[0]),
        (starts, ends),
        fn_output_signature=tf.string,
    )


def _at(sizes: tf.Tensor, indexes: tf.Tensor) -> tf.Tensor:
    """Returns the int8 `sizes` at `indexes`, as int32."""
    return tf.cast(tf.gather(sizes, indexes), tf.int32)
