"""The tokenizer inside a graph: Keras layers over string tensors.

They give what `FullTokenizer` gives, on any text, with no Python at call
time, so that a served model tokenizes as its training did. TensorFlow Text's
own BertTokenizer does not; of it only the WordPiece kernels are used, on
words that are normalised and parted here.

N = texts, W = words, P = WordPieces, C = code points, of all texts together.
"""

import keras
import numpy as np
import tensorflow as tf

from data import tokenization, unicode_tables
from data.tf_wordpiece import WordpieceTable

_CAPITAL_SIGMA = 0x3A3
_FINAL_SIGMA = 0x3C2
_MAX_WORD_LENGTH = 200  # code points; a longer word is unknown
_PLAIN = r"[\t\n\r -~]*"  # printable ASCII and white space


@keras.saving.register_keras_serializable("bert")
class TokenizerLayer(keras.layers.Layer):
    """Tokenizes texts to WordPiece ids as `FullTokenizer` does.

    Args:
        vocab: the vocabulary: path of a file, or the WordPieces in order.
        do_lower_case: whether to lower-case the text and strip accents.
        portable: whether to use nothing but TensorFlow's own operations, so
            that a saved graph needs no TensorFlow Text beside it; slower.
        **kwargs: see keras.layers.Layer.

    Call arguments:
        texts: string [N], UTF-8; bytes that are not UTF-8 are dropped.

    Returns:
        ragged int32 [N, None], the ids, [CLS] and [SEP] not among them.
    """

    def __init__(self, vocab, do_lower_case=True, portable=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(vocab, list | tuple):
            tokenization.check_vocab(vocab)
            vocab = tokenization.read_vocab(vocab)
        # Keras would track each element of a list.
        self._vocab = np.array(vocab, object)
        self.do_lower_case = do_lower_case
        self.portable = portable
        self._tables = unicode_tables.create_tables(do_lower_case)
        self._table = WordpieceTable(self.vocab, "[UNK]", _MAX_WORD_LENGTH)
        if not portable:
            # One kernel splits plain ASCII to words by itself, which is
            # quicker; the other takes words.
            self._plain_kernel = self._create_kernel(no_pretokenization=False)
            self._word_kernel = self._create_kernel(no_pretokenization=True)
        self._unknown = self.vocab.index("[UNK]")
        self.built = True  # there are no weights

    @property
    def vocab(self):
        """The WordPieces in the order of their ids, a list of str."""
        return self._vocab.tolist()

    def _create_kernel(self, no_pretokenization):
        """TensorFlow Text's WordPiece kernel for the vocabulary."""
        # Here, since it takes 0.1 GiB and most scripts do without it.
        import tensorflow_text

        return tensorflow_text.FastWordpieceTokenizer(
            # What can stand in no word would confuse the kernels.
            vocab=[
                token if _can_occur(token) else f"[never {index}]"
                for index, token in enumerate(self._vocab)
            ],
            suffix_indicator="##",
            # Of plain text a character is a byte.
            max_bytes_per_word=(
                4 * _MAX_WORD_LENGTH if no_pretokenization else _MAX_WORD_LENGTH
            ),
            token_out_type=tf.int32,
            unknown_token="[UNK]",
            no_pretokenization=no_pretokenization,
            support_detokenization=False,
        )

    def get_config(self):
        """Returns what the layer is made from."""
        return {
            **super().get_config(),
            "vocab": self.vocab,
            "do_lower_case": self.do_lower_case,
            "portable": self.portable,
        }

    def call(self, texts):
        """Returns the ids of the texts."""
        return self.tokenize_with_offsets(texts)[0]

    def tokenize_with_offsets(self, texts):
        """Tokenizes, and says where in the texts each WordPiece stands.

        Args:
            texts: string [N].

        Returns:
            (ids, starts, ends): ragged int32 [N, None]; `starts` and `ends`
            are byte offsets, the end exclusive, in the text as given.
        """
        texts = tf.convert_to_tensor(texts)
        if self.portable:
            ids, first, last, chars = self.tokenize_with_chars(texts)
            return (
                ids,
                tf.gather(chars["starts"], first),
                tf.gather(chars["ends"], last),
            )
        is_plain = tf.strings.regex_full_match(texts, _PLAIN)
        plain = tf.where(is_plain)[:, 0]
        other = tf.where(~is_plain)[:, 0]
        order = tf.argsort(tf.concat([plain, other], 0))
        parts = zip(
            self._tokenize_plain(tf.gather(texts, plain)),
            self._tokenize_other(tf.gather(texts, other)),
            strict=True,
        )
        return tuple(tf.gather(tf.concat(part, 0), order) for part in parts)

    def _tokenize_plain(self, texts):
        """Tokenizes texts of printable ASCII."""
        if self.do_lower_case:
            texts = tf.strings.lower(texts)
        ids, starts, ends = self._plain_kernel.tokenize_with_offsets(texts)
        return ids, tf.cast(starts, tf.int32), tf.cast(ends, tf.int32)

    def _tokenize_other(self, texts):
        """Tokenizes any texts, through their code points."""
        chars, word_starts = self._part_words(texts)
        words = tf.RaggedTensor.from_row_starts(chars["cps"], word_starts)
        ids, starts, ends = self._split_words(words)

        # From bytes of the words to characters.
        char_bytes = utf8_length(chars["cps"])
        char_of_byte = tf.RaggedTensor.from_row_lengths(
            tf.range(tf.reduce_sum(char_bytes)), char_bytes
        ).value_rowids()
        first_byte = tf.gather(
            tf.cumsum(char_bytes, exclusive=True),
            tf.gather(word_starts, ids.value_rowids()),
        )
        first = tf.gather(char_of_byte, first_byte + starts.flat_values)
        last = tf.gather(char_of_byte, first_byte + ends.flat_values - 1)
        return _with_rows(
            texts,
            chars,
            first,
            ids.flat_values,
            tf.gather(chars["starts"], first),
            tf.gather(chars["ends"], last),
        )

    def tokenize_with_chars(self, texts):
        """Tokenizes, and gives the normalised characters in between.

        It needs nothing but TensorFlow's own operations.

        Args:
            texts: string [N].

        Returns:
            (ids, first, last, chars): ragged int32 [N, None], the ids and
            for each the indexes of its first and last character in `chars`;
            dict of tensors [C], what is left of all texts' characters: int32
            `cps`, the code points; bool `begins`, whether it begins a word
            as `BasicTokenizer` parts them; int32 `rows`, its text, and
            `starts` and `ends`, bytes in the text of what it came from.
        """
        chars, word_starts = self._part_words(texts)
        ids, first, last = self._table.split(chars["cps"], word_starts)
        return *_with_rows(texts, chars, first, ids, first, last), chars

    def _part_words(self, texts):
        """Normalises texts and parts their words.

        Returns:
            (chars, word_starts): see `tokenize_with_chars`; int64 [W], where
            in `chars` each word begins.
        """
        chars = self._normalize(texts)
        # Words are parted at white space and around what is isolated.
        is_space = (chars["flags"] & unicode_tables.SPACE) > 0
        is_border = (
            chars["flags"] & (unicode_tables.SPACE | unicode_tables.ISOLATED)
        ) > 0
        begins = is_border | tf.concat([[True], is_border], 0)[:-1]
        chars = {
            name: tf.boolean_mask(value, ~is_space)
            for name, value in {**chars, "begins": begins}.items()
        }
        return chars, tf.where(chars["begins"])[:, 0]

    def _split_words(self, words):
        """Splits words to WordPieces.

        Args:
            words: ragged int32 [W, None], code points.

        Returns:
            (ids, starts, ends), ragged int32 [W, None]; the offsets are in
            the word's UTF-8 bytes.
        """
        strings = tf.strings.unicode_encode(words, "UTF-8")
        too_long = words.row_lengths() > _MAX_WORD_LENGTH
        # No WordPiece holds the placeholder: it is unknown.
        ids, starts, ends = self._word_kernel.tokenize_with_offsets(
            tf.where(too_long, "\x00", strings)
        )
        is_unknown = ids.flat_values == self._unknown
        ends = tf.where(
            is_unknown,
            tf.gather(tf.strings.length(strings), ids.value_rowids()),
            tf.cast(ends.flat_values, tf.int32),
        )
        return (
            ids,
            ids.with_flat_values(tf.cast(starts.flat_values, tf.int32)),
            ids.with_flat_values(ends),
        )

    def _normalize(self, texts):
        """Cleans, lower-cases and strips texts as `BasicTokenizer` does.

        Args:
            texts: string [N].

        Returns:
            dict of int32 [C]: `cps`, the code points after it, their `flags`,
            and for each the `rows` of its text and the byte offsets, `starts`
            and `ends`, of the code point it came from. White space ends each
            text.
        """
        decoded, starts = tf.strings.unicode_decode_with_offsets(
            tf.strings.join([texts, "\n"]), "UTF-8", errors="replace"
        )
        cps = decoded.flat_values
        flags, values = self._tables.lookup(cps, tf.gather)
        if self.do_lower_case:
            cps = tf.cond(
                tf.reduce_any(cps == _CAPITAL_SIGMA),
                lambda: _lower_final_sigmas(cps, flags),
                lambda: cps,
            )
        starts = tf.cast(starts.flat_values, tf.int32)
        chars = {
            "cps": tf.where(cps == _FINAL_SIGMA, cps, cps + values),
            "flags": flags,
            "rows": tf.cast(decoded.value_rowids(), tf.int32),
            "starts": starts,
            "ends": starts + utf8_length(cps),
        }
        if self.do_lower_case:
            chars["runs"] = tf.cumsum(
                tf.cast((flags & unicode_tables.STARTER) > 0, tf.int32)
            )
            chars["values"] = values
        is_kept = (flags & unicode_tables.DROPPED) == 0
        chars = {
            name: tf.boolean_mask(value, is_kept)
            for name, value in chars.items()
        }
        if self.do_lower_case:
            chars = self._decompose(chars)
        return chars

    def _decompose(self, chars):
        """Replaces what has several code points, and puts marks in order."""
        values, runs = chars.pop("values"), chars.pop("runs")
        several = (chars["flags"] & unicode_tables.SEVERAL) > 0

        def expand():
            rows = tf.gather(self._tables.several, tf.where(several, values, 0))
            rows = tf.where(
                several[:, None],
                rows,
                tf.stack(
                    [chars["cps"]] + [tf.fill([tf.size(values)], -1)] * 2, 1
                ),
            )
            source = tf.where(rows >= 0)[:, 0]
            expanded = {
                name: tf.gather(value, source) for name, value in chars.items()
            }
            expanded["cps"] = tf.boolean_mask(rows, rows >= 0)
            return expanded, tf.gather(runs, source)

        chars, runs = tf.cond(
            tf.reduce_any(several), expand, lambda: (chars, runs)
        )
        is_moved = (chars["flags"] & unicode_tables.REORDERED) > 0
        return tf.cond(
            tf.math.count_nonzero(is_moved) > 1,
            lambda: self._reorder(chars, runs),
            lambda: chars,
        )

    def _reorder(self, chars, runs):
        """Puts marks in the canonical order of their combining classes."""
        cps, classes = self._tables.combining_classes
        index = tf.searchsorted(cps, chars["cps"])
        index = tf.minimum(index, len(cps) - 1)
        found = tf.gather(cps, index) == chars["cps"]
        key = runs * 256 + tf.where(found, tf.gather(classes, index), 0)
        order = tf.argsort(key, stable=True)
        return {name: tf.gather(value, order) for name, value in chars.items()}


def _with_rows(texts, chars, first, *values):
    """Returns values of WordPieces by text, ragged [N, None] each."""
    rows = tf.cast(tf.gather(chars["rows"], first), tf.int64)
    return [
        tf.RaggedTensor.from_value_rowids(value, rows, tf.size(texts, tf.int64))
        for value in values
    ]


def _can_occur(token):
    """Whether a WordPiece can be found in a word, or be one."""
    body = token.removeprefix("##")
    # A word of one character may be punctuation or an ideograph.
    if len(token) == 1 or token == "[UNK]":
        return True
    return bool(body) and not any(
        tokenization.is_punctuation(char)
        or tokenization.clean_character(char) != char
        for char in body
    )


def _lower_final_sigmas(cps, flags):
    """Replaces capital sigmas that end a word, as `str.lower` does.

    Such a sigma stands after a cased letter, and not before one, where what
    is case ignorable is passed over.
    """
    index = tf.where((flags & unicode_tables.CASE_IGNORABLE) == 0)
    is_cased = tf.gather_nd((flags & unicode_tables.CASED) > 0, index)
    after = tf.concat([[False], is_cased], 0)[:-1]
    before = tf.concat([is_cased, [False]], 0)[1:]
    is_sigma = tf.gather_nd(cps, index) == _CAPITAL_SIGMA
    final = tf.boolean_mask(index, is_sigma & after & ~before)
    return tf.tensor_scatter_nd_update(
        cps, final, tf.fill([tf.shape(final)[0]], _FINAL_SIGMA)
    )


def utf8_length(cps):
    """Number of bytes of code points in UTF-8."""
    return 1 + sum(
        tf.cast(cps >= least, tf.int32) for least in (0x80, 0x800, 0x10000)
    )
