"""Splits texts into words, and cuts them into windows, in TensorFlow graphs.

The tests of this module compare the words with Python's, and
tests/serving/text_tasks/test_text_task_twins.py the windows:

    separate_words  ner_examples.split_words
    cut_texts       sentence_windows.create_ner_features, for sentences

N = number of texts.
"""

import tensorflow as tf

from data.ner.ner_examples import BETWEEN_WORDS
from data.text.token_windows_graph import Windows, cut_windows
from data.text.tokenizer_layer import TokenizerLayer, drop_invalid

# Regular expression (RE2) of the white space at which `str.split` splits.
_WHITE_SPACE = r"[\x09-\x0d\x1c-\x20\x{85}\pZ]"


def separate_words(texts: tf.Tensor) -> tf.Tensor:
    """Puts spaces between the words that `ner_examples.split_words` finds.

        He's "in" (St. Ives). -> He's " in " ( St . Ives ).

    `texts` are string [N], UTF-8. Bytes that are not UTF-8 are dropped.
    """
    texts = drop_invalid(texts)
    texts = tf.strings.regex_replace(texts, BETWEEN_WORDS, r" \1 ")
    begins = rf"(^|{_WHITE_SPACE})(\pP+)"
    ends = rf"(\pP+)({_WHITE_SPACE}|$)"
    texts = tf.strings.regex_replace(texts, begins, r"\1\2 ")
    return tf.strings.regex_replace(texts, ends, r" \1\2")


def cut_texts(
    texts: tf.Tensor, tokenizer: TokenizerLayer, max_seq_length: int
) -> tuple[tf.RaggedTensor, Windows, tf.Tensor]:
    """Splits texts into words at white space, and cuts them into windows.

    Args:
        texts: string [N], UTF-8. Bytes that are not UTF-8 are dropped.
        tokenizer: layer with the model's vocabulary.
        max_seq_length: length of a window in WordPieces, at least 3.

    Returns:
        (words, windows, word_positions). `words` are the words of each text,
        ragged string [N, None]. `windows` are the Windows of all texts.
        `word_positions`, int64 [words, 2], contains for each word the index of
        a window and the position in this window at which the network predicts
        the word's tag.
    """
    texts = drop_invalid(texts)
    texts = tf.strings.regex_replace(texts, f"{_WHITE_SPACE}+", " ")
    words = tf.strings.split(texts)
    tokens_of_words = tokenizer(words.flat_values)
    # Every word needs a token, whose output predicts the word's tag. So insert
    # [UNK] if the tokenizer drops all characters of a word.
    lengths = tokens_of_words.row_lengths()
    starts = tf.where(lengths > 0, tokens_of_words.row_starts() + 1, 0)
    indices = tf.ragged.range(starts, starts + tf.maximum(lengths, 1))
    ids = tf.concat(
        [[tokenizer.id_of("[UNK]")], tokens_of_words.flat_values], 0
    )
    tokens_of_words = indices.with_flat_values(
        tf.gather(ids, indices.flat_values)
    )
    tokens = words.with_flat_values(tokens_of_words).merge_dims(1, 2)
    stride = max((max_seq_length - 2) // 2, 1)
    windows = cut_windows(tokens, max_seq_length, stride)
    # For each word, choose the window where its first token has the most
    # context. Positions are one higher, because a window begins with [CLS].
    first = tokens_of_words.row_starts()
    window = windows.find_max_context_windows(first)
    positions = first - tf.gather(windows.starts, window) + 1
    return words, windows, tf.stack([window, positions], 1)
