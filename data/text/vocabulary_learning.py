"""Learns a WordPiece vocabulary from a corpus, or extends a vocabulary.

The algorithm that learns a vocabulary is in TensorFlow Text. It is
deterministic, so the same words result in the same vocabulary. This project's
BasicTokenizer splits the corpus into words.
"""

import collections
import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from data.text import characters
from data.text.tokenization import BasicTokenizer, WordpieceTokenizer
from terminal import progress

# Maximum number of distinct words in memory. Above this number, words that
# occurred only once are dropped.
_MAX_WORDS = 5_000_000
# Only the most frequent characters become WordPieces: as many as are needed to
# cover this fraction of the text.
_CHARACTER_COVERAGE = 0.99995
_MAX_WORD_LENGTH = 50
_UNUSED_TOKEN = re.compile(r"\[unused\d+\]")
# Number of [unusedN] entries before [UNK] in Google's released vocabularies.
_UNUSED_IN_FRONT = 99


def count_words(
    lines: Iterable[str], do_lower_case: bool
) -> collections.Counter[str]:
    """Counts the words of lines of text, as `BasicTokenizer` splits them.

    When more than _MAX_WORDS distinct words are counted, drops the words that
    occurred only once so far.
    """
    tokenizer = BasicTokenizer(do_lower_case)
    counts: collections.Counter[str] = collections.Counter()
    for line in lines:
        counts.update(tokenizer.tokenize(line))
        if len(counts) > _MAX_WORDS:
            for word in [word for word in counts if counts[word] == 1]:
                del counts[word]
    return counts


def reserved_tokens(num_unused: int) -> list[str]:
    """Returns the special tokens and [unusedN] entries of a new vocabulary.

    These entries come before the learned WordPieces, as in Google's releases.

    Examples:
        >>> reserved_tokens(num_unused=1)
        ['[PAD]', '[unused0]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']

    Args:
        num_unused: number of [unusedN] entries. If it is at least 99, the
            special tokens get the same ids as in Google's releases.
    """
    unused = [f"[unused{index}]" for index in range(num_unused)]
    front, rest = unused[:_UNUSED_IN_FRONT], unused[_UNUSED_IN_FRONT:]
    return ["[PAD]", *front, "[UNK]", "[CLS]", "[SEP]", "[MASK]", *rest]


def learn_vocabulary(
    counts: Mapping[str, int], vocab_size: int, num_unused: int
) -> list[str]:
    """Learns a vocabulary from counted words.

    Args:
        counts: {word: number of occurrences}.
        vocab_size: maximum number of entries of the vocabulary. The result is
            smaller if the words are few or short.
        num_unused: number of [unusedN] entries. If it is at least 99, the
            special tokens get the same ids as in Google's releases.

    Raises:
        ValueError: `counts` is empty, `vocab_size` is too small for the
            characters, or tensorflow-text is not installed.
    """
    if not counts:
        raise ValueError("no words in the input; use files with text")
    learner = _import_learner()
    reserved = reserved_tokens(num_unused)
    num_wanted = vocab_size - len(reserved)
    num_characters = _count_covering_characters(counts)
    if num_wanted < 2 * num_characters:
        raise ValueError(
            f"--vocab_size={vocab_size} is too small: {len(reserved)} entries "
            f"are reserved, and each of {num_characters} characters needs two; "
            f"set at least {len(reserved) + 2 * num_characters}"
        )
    learn = functools.partial(
        learner.learn,
        sorted(counts.items()),
        vocab_size=num_wanted,
        reserved_tokens=[],
        max_token_length=_MAX_WORD_LENGTH,
        max_unique_chars=num_characters,
    )
    learned = _learn_by_search(learn, counts, num_wanted)
    return [*reserved, *learned][:vocab_size]


def _import_learner() -> Any:  # noqa: ANN401  a module of an optional package
    try:
        # An optional package.
        from tensorflow_text.tools.wordpiece_vocab import (
            wordpiece_tokenizer_learner_lib as learner,
        )
    except ImportError:
        raise ValueError(
            "learning a vocabulary needs the package tensorflow-text, which is "
            "not installed. Install it on Linux or macOS with Python 3.11 to "
            "3.13, the only platforms that it supports"
        ) from None
    return learner


class _Learn(Protocol):
    """Learns WordPieces that occur often enough, in tensorflow-text."""

    def __call__(self, *, lower_thresh: int, upper_thresh: int) -> list[str]:
        """Returns the WordPieces, by a count between the two thresholds."""


def _learn_by_search(
    learn: _Learn, counts: Mapping[str, int], num_wanted: int
) -> list[str]:
    """Learns about `num_wanted` WordPieces.

    A WordPiece enters the vocabulary if it occurs at least `least_count` times.
    The function searches for the `least_count` that leads to `num_wanted`
    WordPieces. This count is between the counts of the words with the ranks
    `num_wanted` and `num_wanted` / 4.
    """
    by_rank = sorted(counts.values(), reverse=True)
    low = by_rank[num_wanted] if num_wanted < len(by_rank) else 1
    high = by_rank[min(num_wanted // 4, len(by_rank) - 1)]
    learned: list[str] = []
    # Each trial halves the range of counts. The last ones are seldom needed.
    num_trials = max(high - low + 1, 1).bit_length()
    with progress.Progress(
        num_trials, unit="trial", description="Learning the vocabulary:"
    ) as bar:
        for trial in range(1, num_trials + 1):
            if low > high or num_wanted <= len(learned) <= 1.05 * num_wanted:
                break
            least_count = (low + high) // 2
            tokens = learn(lower_thresh=least_count, upper_thresh=least_count)
            tokens = [token for token in tokens if _may_occur(token)]
            if bar.is_due(trial):
                bar.update(trial, WordPieces=len(tokens))
            if len(tokens) < num_wanted:
                high = least_count - 1
                learned = max(learned, tokens, key=len)
            else:
                low = least_count + 1
                learned = tokens
    return learned


def _may_occur(token: str) -> bool:
    """Returns False for a continuation that no text contains, such as "##,".

    Punctuation marks and ideographs are always separate words.
    """
    if not (token.startswith("##") and len(token) == 3):
        return True
    character = token[2]
    return not (
        characters.is_punctuation(character)
        or characters.is_cjk(ord(character))
    )


class WordpieceCounts(NamedTuple):
    """Numbers of WordPieces of a corpus.

    Attributes:
        num_wordpieces: number of all WordPieces.
        num_unknown: number of [UNK] among them.
    """

    num_wordpieces: int
    num_unknown: int


def count_corpus_wordpieces(
    vocab: Sequence[str], counts: Mapping[str, int]
) -> WordpieceCounts:
    """Counts the WordPieces into which a vocabulary splits a corpus.

    `counts` is {word: number of occurrences}.
    """
    tokenizer = WordpieceTokenizer(set(vocab))
    num_unknown = 0
    num_wordpieces = 0
    for word, num_times in counts.items():
        tokens = tokenizer.tokenize(word)
        num_wordpieces += len(tokens) * num_times
        num_unknown += tokens.count("[UNK]") * num_times
    return WordpieceCounts(num_wordpieces, num_unknown)


def _count_covering_characters(counts: Mapping[str, int]) -> int:
    """Returns how many of the most frequent characters must be WordPieces.

    These characters are the fraction _CHARACTER_COVERAGE of the text.
    """
    count_of_char: collections.Counter[str] = collections.Counter()
    for word, num_times in counts.items():
        if len(word) <= _MAX_WORD_LENGTH:
            for char in word:
                count_of_char[char] += num_times
    most_frequent_first = sorted(count_of_char.values(), reverse=True)
    totals = list(itertools.accumulate(most_frequent_first))
    min_total = _CHARACTER_COVERAGE * totals[-1]
    return next(
        num_characters
        for num_characters, total in enumerate(totals, 1)
        if total >= min_total
    )


def extend_vocabulary(
    vocab: Sequence[str],
    counts: Mapping[str, int],
    num_new_words: int | None = None,
) -> list[str]:
    """Adds words to a vocabulary, so that a corpus needs fewer WordPieces.

    Adds the words that save the most WordPieces, among the words that contain a
    letter and occur at least twice. For a word that became [UNK], the function
    assumes that each character was a WordPiece. Existing WordPieces keep their
    ids.

    Args:
        vocab: the WordPieces in the order of their ids.
        counts: {word: number of occurrences in the corpus}.
        num_new_words: maximum number of words to add. The first words replace
            [unusedN] entries. The other words are appended. None = the number
            of [unusedN] entries.

    Raises:
        ValueError: the corpus contains no word to add, or `num_new_words` is
            None and the vocabulary contains no [unusedN] entries.
    """
    unused_ids = [
        token_id
        for token_id, token in enumerate(vocab)
        if _UNUSED_TOKEN.fullmatch(token)
    ]
    if num_new_words is None:
        num_new_words = len(unused_ids)
    words = _rank_new_words(vocab, counts)[:num_new_words]
    if not words:
        raise ValueError(
            "nothing to add: the vocabulary already contains all words that "
            "contain a letter and occur at least twice (use a larger input), "
            "or it contains no [unusedN] entries (set --num_new_words)"
        )
    extended = list(vocab)
    for token_id, word in zip(unused_ids, words, strict=False):
        extended[token_id] = word
    return extended + words[len(unused_ids) :]


def _rank_new_words(
    vocab: Sequence[str], counts: Mapping[str, int]
) -> list[str]:
    """Returns the words to add to a vocabulary, the most useful word first.

    Examples:
        Adding "boat" saves four WordPieces, two at each place of the word, and
        adding "tugs" saves three. Adding "tug" would save none:

        >>> counts = {"tugs": 3, "boat": 2, "tug": 9}
        >>> _rank_new_words(["tug", "##s", "b", "##oa", "##t"], counts)
        ['boat', 'tugs']
    """
    tokenizer = WordpieceTokenizer(set(vocab))
    saved = {}
    for word, num_times in counts.items():
        has_letter = any(map(str.isalpha, word))
        if num_times > 1 and len(word) <= _MAX_WORD_LENGTH and has_letter:
            tokens = tokenizer.tokenize(word)
            length = len(word) if tokens == ["[UNK]"] else len(tokens)
            saved[word] = num_times * (length - 1)
    return sorted(
        (word for word in saved if saved[word]),
        key=lambda word: (-saved[word], word),
    )


def list_old_ids(
    vocab: Sequence[str], extended: Sequence[str]
) -> list[list[int]]:
    """Lists, for each token of an extended vocabulary, ids of the old one.

    Examples:
        >>> list_old_ids(["[unused0]", "tug", "##s"], ["tugs", "tug", "##s"])
        [[1, 2], [1], [2]]

    Returns:
        a list of ids for each token of `extended`. If the token's id in `vocab`
        is the same, the list contains only this id. Otherwise the list contains
        the ids of the WordPieces into which `vocab` splits the token.

    Raises:
        ValueError: `extended` is shorter than `vocab`, or replaces a token of
            `vocab` that is not an [unusedN] entry.
    """
    tokenizer = WordpieceTokenizer(set(vocab))
    ids = {token: token_id for token_id, token in enumerate(vocab)}
    old_ids = []
    pairs = itertools.zip_longest(vocab, extended)
    for token_id, (before, token) in enumerate(pairs):
        may_change = before is None or _UNUSED_TOKEN.fullmatch(before)
        if token == before:
            old_ids.append([token_id])
        elif may_change and token is not None:
            sub_tokens = tokenizer.tokenize(token)
            old_ids.append([ids[sub_token] for sub_token in sub_tokens])
        else:
            raise ValueError(
                f"the extended vocabulary replaces {before!r}, the WordPiece "
                f"with id {token_id}, by {token!r}; only [unusedN] entries may "
                "change. Use the file that --extend wrote"
            )
    return old_ids
