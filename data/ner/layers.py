"""Cuts texts into words and windows, and chooses the words' tags.

The code consists of TensorFlow operations, so that an exported model runs it
without Python. It cuts the same windows as sentence_windows.py, and chooses the
same tags as legal_tags.py.

N = number of texts, M = words in the longest text, L = number of tags.
"""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from data.ner import legal_tags
from data.text import ragged
from data.text.packing_layer import Windows, cut_windows
from data.text.tokenizer_layer import TokenizerLayer, drop_invalid

# Regular expression (RE2) of the white space at which `str.split` splits.
_WHITE_SPACE_RUN = "[\\x09-\\x0d\\x1c-\\x20\\x{85}\\pZ]+"
# Maximum number of words in a block of `decode_legal`.
_BLOCK = 512


def split_punctuation(texts: tf.Tensor) -> tf.Tensor:
    """Puts spaces around the punctuation that begins or ends words.

        He's "in" (St. Ives). -> He's " in " ( St . Ives ).

    `texts` are string [N], UTF-8. Bytes that are not UTF-8 are dropped.
    """
    texts = drop_invalid(texts)
    texts = tf.strings.regex_replace(texts, r"(^|[\s\pZ])(\pP+)", r"\1\2 ")
    return tf.strings.regex_replace(texts, r"(\pP+)([\s\pZ]|$)", r" \1\2")


def cut_texts(
    texts: tf.Tensor, tokenizer: TokenizerLayer, max_seq_length: int
) -> tuple[tf.RaggedTensor, Windows, tf.Tensor]:
    """Splits texts into words at white space, and cuts them into windows.

    Args:
        texts: string [N], UTF-8. Bytes that are not UTF-8 are dropped.
        tokenizer: TokenizerLayer with the model's vocabulary.
        max_seq_length: length of a window in WordPieces, at least 3.

    Returns:
        (words, windows, places). `words` are the words of each text, ragged
        string [N, None]. `windows` are the Windows of all texts. `places`,
        int64 [words, 2], contains for each word the index of a window and the
        position in this window at which the network predicts the word's tag.
    """
    texts = drop_invalid(texts)
    words = tf.strings.split(
        tf.strings.regex_replace(texts, _WHITE_SPACE_RUN, " "), " "
    )
    indexes = tf.where(words.flat_values != "")[:, 0]
    words = ragged.with_row_splits(
        tf.gather(words.flat_values, indexes),
        tf.searchsorted(indexes, words.row_splits),
    )
    pieces = tokenizer(words.flat_values)
    # Every word needs a token, whose output predicts the word's tag. So insert
    # [UNK] if the tokenizer drops all characters of a word. tf.concat would
    # need several times the memory.
    ids, splits = pieces.flat_values, pieces.row_splits
    is_empty = tf.cast(splits[1:] == splits[:-1], tf.int64)
    splits += tf.concat([[0], tf.cumsum(is_empty)], 0)
    inserted = tf.gather(splits, tf.where(is_empty > 0))
    kept = 1 - tf.scatter_nd(
        inserted, tf.ones_like(inserted[:, 0], tf.int32), [splits[-1]]
    )
    ids = tf.concat([[tokenizer.id_of("[UNK]")], ids], 0)
    ids = tf.gather(ids, tf.cumsum(kept) * kept)
    pieces = ragged.with_row_splits(ids, splits)
    tokens = words.with_flat_values(pieces).merge_dims(1, 2)
    stride = max((max_seq_length - 2) // 2, 1)
    windows = cut_windows(tokens, max_seq_length, stride)
    # For each word, choose the window where its first token has the most
    # context. Positions are one higher, because a window begins with [CLS].
    first = pieces.row_starts()
    window = windows.most_context(first)
    places = first - tf.gather(windows.starts, window) + 1
    return words, windows, tf.stack([window, places], 1)


def decode_legal(
    probabilities: tf.RaggedTensor, labels: Sequence[str]
) -> tf.Tensor:
    """Chooses the most probable legal sequence of tags of each text.

    A sequence is legal if each of its tags may follow the preceding tag.

    Args:
        probabilities: probabilities of the L tags of each word of each text,
            ragged float32 [N, None, L].
        labels: names of the L tags, in the order of the probabilities.

    Returns:
        index of each word's chosen tag, int32 [number of words in all texts].
    """
    start, between, end = legal_tags.find_penalties(tuple(labels))
    # Nearly always, the best tags of the words already form legal sequences,
    # which need no search.
    best = tf.argmax(probabilities.flat_values, -1, tf.int32)
    num_words = tf.size(best, probabilities.row_splits.dtype)
    rows = ragged.row_ids(probabilities.row_splits, num_words)
    before, after = best[:-1], best[1:]
    penalties = tf.where(
        rows[:-1] == rows[1:],
        tf.gather_nd(between, tf.stack([before, after], 1)),
        tf.gather(end, before) + tf.gather(start, after),
    )
    outer = tf.gather(start, best[:1]) + tf.gather(end, best[-1:])
    return tf.cond(
        tf.reduce_all(penalties == 0) & tf.reduce_all(outer == 0),
        lambda: best,
        lambda: _search_legal(probabilities, start, between, end),
    )


def _search_legal(
    probabilities: tf.RaggedTensor,
    start: np.ndarray,
    between: np.ndarray,
    end: np.ndarray,
) -> tf.Tensor:
    # Does the search of `decode_legal`. The arrays are the result of
    # `legal_tags.find_penalties`.
    lengths = tf.cast(probabilities.row_lengths(), tf.int32)
    # A loop keeps a small tensor for each of its steps, which needs several
    # times the memory of its values. So search in blocks of words, whose values
    # become one tensor. Pad the texts with at least one word, because tf.scan
    # rejects empty tensors.
    longest = tf.reduce_max(tf.concat([lengths, [0]], 0))
    num_blocks = longest // _BLOCK + 1
    size = longest // num_blocks + 1
    num_texts, num_tags = tf.size(lengths), len(end)
    scores = probabilities.with_flat_values(
        tf.math.log(tf.maximum(probabilities.flat_values, 1e-37))
    )
    padded = scores.to_tensor(
        shape=tf.stack([num_texts, num_blocks * size, num_tags])
    )
    words = (
        tf.reshape(
            tf.transpose(padded, [1, 0, 2]),
            [num_blocks, size, num_texts, num_tags],
        ),
        tf.reshape(tf.range(num_blocks * size), [num_blocks, size]),
    )
    # In the search, a padding word repeats the tag before it, so that padding
    # does not change the tags of real words.
    unchanged = tf.range(num_tags)

    def forward(
        state: tuple[tf.Tensor, tf.Tensor], word: tuple[tf.Tensor, tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        total, row = state[0], word[0]
        paths = total[:, :, None] + tf.where(word[1] == 0, start, between)
        best = tf.reduce_max(paths, [1, 2])[:, None]
        is_real = (word[1] < lengths)[:, None]
        return (
            tf.where(is_real, tf.reduce_max(paths, 1) - best + row, total),
            tf.where(is_real, tf.argmax(paths, 1, tf.int32), unchanged),
        )

    def forward_block(
        state: tuple[tf.Tensor, tf.Tensor], block: tuple[tf.Tensor, tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        totals, steps = tf.scan(forward, block, (state[0], state[1][0]))
        return totals[-1], steps

    def backward_block(following: tf.Tensor, steps: tf.Tensor) -> tf.Tensor:
        return tf.scan(
            lambda tag, step: tf.gather(step, tag, batch_dims=1),
            steps,
            following[0],
            reverse=True,
        )

    totals, steps = tf.scan(
        forward_block,
        words,
        (
            tf.zeros([num_texts, num_tags]),
            tf.zeros([size, num_texts, num_tags], tf.int32),
        ),
    )
    last = tf.argmax(totals[-1] + end, -1, tf.int32)[None]
    before = tf.scan(
        backward_block, steps, tf.repeat(last, size, 0), reverse=True
    )
    # `before` contains the tag before each word. Join the tags of all words,
    # including padding. The return statement then drops the padding.
    before = tf.reshape(before, [-1, num_texts])
    ids = tf.transpose(tf.concat([before[1:], last], 0))
    return tf.RaggedTensor.from_tensor(ids, lengths).flat_values
