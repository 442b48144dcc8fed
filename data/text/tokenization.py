"""Tokenizes text into WordPieces (Devlin et al. 2018, section 3).

    "Unaffable, isn't it?" -> una ##ffa ##ble , isn ' t it ?

`FullTokenizer` splits text by the rules of `BasicTokenizer` into words, and the
words by `WordpieceTokenizer`. All other tokenizers in this project must return
the same WordPieces.
"""

import functools
import itertools
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from data.arrays import IntArray
from data.text import text_lists
from data.text.casing import decide_casing
from data.text.characters import clean_text, split_on_punctuation, strip_accents
from data.text.text_lists import TextsLike
from data.text.token_windows import (
    PaddedInput,
    join_tokens,
    pad_input,
    stack_inputs,
)
from data.text.vocabulary_files import Vocabulary, read_vocabulary
from model_folders.training_settings import TokenizerIdentity

if TYPE_CHECKING:
    from data.text.tokenizer_layer import TokenizerLayer
    from model_folders.reading.preset import PathOrPreset, Preset

# The special token that stands for a missing word.
MASK = "[MASK]"
# The special tokens that a text may contain.
_SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", MASK, "[UNK]")
# Number of characters that `tokenize_beginning` tokenizes at a time.
_CHUNK_LENGTH = 8192
# Matches white space or an ideograph: a word always ends before them.
_BORDER = re.compile("[ \t\n\r\u3400-\u4dbf\u4e00-\u9fff]")
# Maximum number of words in a cache, and of characters in a cached word.
_MAX_CACHED_WORDS = 1 << 17
_MAX_CACHED_LENGTH = 64
T = TypeVar("T")


class FullTokenizer:
    """Splits text into words, then words into WordPieces.

    Args:
        vocab_file: path of a vocabulary with one WordPiece a line, or of a
            tokenizer.json of transformers. Or the Vocabulary in it, if it is
            already read.
        do_lower_case: whether to lower-case the text and strip accents. None =
            as the tokenizer.json says, and True for any other file.
        special_tokens_in_strings: whether [MASK], [CLS], [SEP], [UNK] and [PAD]
            stay whole where a text contains them. By default, Google's code
            splits them, as any other text.

    Attributes:
        vocabulary: the WordPieces, which can check whether they fit a model.
        vocab_file: path of the vocabulary.
        tokens: the WordPieces in the order of their ids.
        vocab: {WordPiece: id}. As in Google's code, the id of a repeated
            WordPiece is the index of its last line.
        do_lower_case: whether text is lower-cased.
        special_words: the words that stay whole in a text.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is a tokenizer.json whose tokenizer is not BERT's,
            or whose casing contradicts `do_lower_case`.
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str] | Vocabulary,
        do_lower_case: bool | None = True,
        special_tokens_in_strings: bool = False,
    ) -> None:
        vocabulary = (
            vocab_file
            if isinstance(vocab_file, Vocabulary)
            else read_vocabulary(vocab_file)
        )
        vocabulary.check_casing(do_lower_case)
        self.vocabulary = vocabulary
        self.vocab_file = vocabulary.path
        self.tokens = vocabulary.tokens
        self.vocab = {token: index for index, token in enumerate(self.tokens)}
        words = _SPECIAL_TOKENS if special_tokens_in_strings else ()
        self.special_words = [word for word in words if word in self.vocab]
        self.do_lower_case = (
            do_lower_case is not False and vocabulary.stated_casing is not False
        )
        self.basic_tokenizer = BasicTokenizer(self.do_lower_case)
        self.wordpiece_tokenizer = WordpieceTokenizer(vocab=self.vocab)
        self._tokens_of_words = WordCache(self.tokenize_word)

    @classmethod
    def from_preset(
        cls,
        path_or_preset: "PathOrPreset",
        special_tokens_in_strings: bool = False,
    ) -> "FullTokenizer":
        """Creates the tokenizer of the model in a folder.

        Args:
            path_or_preset: a folder of weights, a checkpoint in it, or a model
                of the Hugging Face hub, hf://OWNER/NAME or
                hf://OWNER/NAME@REVISION. Or the Preset of one of them.
            special_tokens_in_strings: whether [MASK], [CLS], [SEP], [UNK] and
                [PAD] stay whole where a text contains them.

        Raises:
            OSError: there is no vocabulary, or it cannot be downloaded.
            ValueError: the folder does not state the casing, and the vocabulary
                does not show it, or its tokenizer is not BERT's.
        """
        # Import late, because nothing else here reads or downloads a model.
        from model_folders.reading.preset import Preset, read_preset

        if isinstance(path_or_preset, Preset):
            preset = path_or_preset
        else:
            preset = read_preset(path_or_preset)
        if preset.vocab_file is None:
            raise FileNotFoundError(
                f"{preset.folder} contains no vocab.txt or tokenizer.json"
            )
        vocabulary = read_vocabulary(preset.vocab_file)
        vocabulary.check_tokens()
        casing = decide_casing(vocabulary, None, preset)
        return cls(vocabulary, casing, special_tokens_in_strings)

    @functools.cached_property
    def layer(self) -> "TokenizerLayer":
        """This tokenizer as a Keras layer, which is created at the first use.

        Raises:
            ValueError: the vocabulary lacks one of `REQUIRED_TOKENS`.
        """
        # A layer needs TensorFlow, which loads slowly.
        from data.text.tokenizer_layer import TokenizerLayer

        self.vocabulary.check_tokens()
        return TokenizerLayer(
            self.tokens, self.do_lower_case, self.special_words
        )

    @property
    def identity(self) -> TokenizerIdentity:
        """Casing and vocabulary checksum, to compare tokenizers."""
        checksum = zlib.crc32("\n".join(self.tokens).encode())
        return {
            "do_lower_case": self.do_lower_case,
            "vocab": f"{checksum:08x}",
        }

    def __call__(
        self,
        texts: TextsLike,
        text_pairs: TextsLike | None = None,
        max_length: int = 128,
    ) -> dict[str, IntArray]:
        """Converts texts to the features of a model.

            model(tokenizer(["The boat left.", "It rains."]))

        Args:
            texts: N texts, or one text: str, or UTF-8 as bytes, in a list, an
                array or a tensor. In tf.data, use
                `data.text.BertTextClassifierPreprocessor`.
            text_pairs: N second texts, or one, if the model reads pairs.
            max_length: maximum number of WordPieces in a row. As in Google's
                code, the longer text of a pair is cut first.

        Returns:
            `input_ids`, `input_mask` and `segment_ids`, int32 [N, T]. T is the
            length of the longest row. Shorter rows are padded with 0.

        Raises:
            TypeError: a text is not a string, or a tensor has no value yet.
            ValueError: there are more first or more second texts.
        """
        firsts = text_lists.to_list(texts)
        seconds = [""] * len(firsts)
        if text_pairs is not None:
            seconds = text_lists.to_list(text_pairs)
        joined_texts = [
            join_tokens(self.tokenize(first), self.tokenize(second), max_length)
            for first, second in zip(firsts, seconds, strict=True)
        ]
        longest = max(
            (len(joined.tokens) for joined in joined_texts), default=0
        )
        inputs = [
            self.create_inputs(joined.tokens, joined.first_length, longest)
            for joined in joined_texts
        ]
        return stack_inputs(inputs, longest)

    def create_inputs(
        self, tokens: Sequence[str], first_length: int, max_seq_length: int
    ) -> PaddedInput:
        """Converts tokens to the network's input, padded with zeros.

        The first `first_length` tokens are in segment 0.
        """
        input_ids = self.convert_tokens_to_ids(tokens)
        return pad_input(input_ids, first_length, max_seq_length)

    def tokenize(self, text: str) -> list[str]:
        """Returns the WordPieces of `text`, a list of str."""
        return self.tokenize_around(text, self.special_words)

    def tokenize_around(self, text: str, words: Collection[str]) -> list[str]:
        """Returns the WordPieces of a text, in which `words` stay whole.

        The text between two of the words is tokenized as a text of its own.
        """
        if not words:
            return self._tokenize_plain(text)
        pattern = "|".join(map(re.escape, words))
        tokens: list[str] = []
        for part in re.split(f"({pattern})", text):
            tokens += [part] if part in words else self._tokenize_plain(part)
        return tokens

    def _tokenize_plain(self, text: str) -> list[str]:
        return self._tokens_of_words.of_all(clean_text(text).split())

    def tokenize_beginning(
        self,
        text: str,
        num_wordpieces: int,
        words: Collection[str] | None = None,
    ) -> list[str]:
        """Returns the first `num_wordpieces` WordPieces of a text, or more.

        Args:
            text: a text of any length, of which only the beginning is split.
            num_wordpieces: number of WordPieces that are needed.
            words: words that stay whole, by default `special_words`.
        """
        words = self.special_words if words is None else words
        tokens: list[str] = []
        start = 0
        while start < len(text) and len(tokens) < num_wordpieces:
            border = _BORDER.search(text, start + _CHUNK_LENGTH)
            end = border.start() if border else len(text)
            tokens += self.tokenize_around(text[start:end], words)
            start = end
        return tokens

    def tokenize_word(self, word: str) -> list[str]:
        """Returns the WordPieces of one word of cleaned text."""
        return [
            sub_token
            for token in self.basic_tokenizer.tokenize_word(word)
            for sub_token in self.wordpiece_tokenizer.tokenize(token)
        ]

    def convert_tokens_to_ids(self, tokens: Iterable[str]) -> list[int]:
        """Returns the ids of WordPieces. The vocabulary must contain them."""
        return [self.vocab[token] for token in tokens]

    def convert_ids_to_tokens(self, ids: Iterable[int]) -> list[str]:
        """Returns the WordPieces of ids, which are line numbers from 0 on."""
        return [self.tokens[token_id] for token_id in ids]


class BasicTokenizer:
    """Splits text into words.

    A punctuation mark or a CJK ideograph is always a word of its own.

    Args:
        do_lower_case: whether to lower-case the text and strip accents.
    """

    def __init__(self, do_lower_case: bool = True) -> None:
        self.do_lower_case = do_lower_case
        self._word_tokens = WordCache(self.tokenize_word)

    def tokenize(self, text: str) -> list[str]:
        """Returns the words of `text`, a list of str."""
        return self._word_tokens.of_all(clean_text(text).split())

    def tokenize_word(self, word: str) -> list[str]:
        """Splits a word of cleaned text at punctuation.

        If `do_lower_case` is True, the word is first lower-cased, and its
        accents are stripped.
        """
        if self.do_lower_case:
            word = strip_accents(word.lower())
        return split_on_punctuation(word)


class WordpieceTokenizer:
    """Splits a word into the longest WordPieces that match, from the left.

    Args:
        vocab: the WordPieces.
        unk_token: token that replaces a word that cannot be split.
        max_input_chars_per_word: maximum number of characters of a word. A
            longer word becomes `unk_token`.
    """

    def __init__(
        self,
        vocab: Collection[str],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 200,
    ) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word
        self._max_token_length = max(map(len, vocab), default=0)

    def tokenize(self, text: str) -> list[str]:
        """Splits each word of `text`. White space separates the words.

        Examples:
            >>> tokenizer = WordpieceTokenizer({"row", "##boats"})
            >>> tokenizer.tokenize("rowboats row boats")
            ['row', '##boats', 'row', '[UNK]']
        """
        output: list[str] = []
        for token in text.split():
            output += self._split(token) or [self.unk_token]
        return output

    def _split(self, token: str) -> list[str] | None:
        """Returns the WordPieces of a word, or None if it cannot be split."""
        if len(token) > self.max_input_chars_per_word:
            return None
        if token in self.vocab:
            return [token]
        sub_tokens = []
        start = 0
        prefix = ""
        while start < len(token):
            end = min(len(token), start + self._max_token_length)
            while start < end and prefix + token[start:end] not in self.vocab:
                end -= 1
            if start == end:
                return None
            sub_tokens.append(prefix + token[start:end])
            start = end
            prefix = "##"
        return sub_tokens


class WordCache(dict[str, list[T]]):
    """Caches the tokens of each word, because words repeat in natural text.

    `cache[word]` returns `function(word)`.
    """

    def __init__(self, function: Callable[[str], list[T]]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> list[T]:
        """Computes and caches the tokens of a word."""
        result = self._function(word)
        if len(word) <= _MAX_CACHED_LENGTH:
            # If the cache is full, clear it. Frequent words are soon cached
            # again.
            if len(self) >= _MAX_CACHED_WORDS:
                self.clear()
            self[word] = result
        return result

    def of_all(self, words: Iterable[str]) -> list[T]:
        """Returns the tokens of all words, concatenated to one list."""
        return list(itertools.chain.from_iterable(map(self.__getitem__, words)))


def load_tokenizer(
    vocab_file: str | os.PathLike[str],
    do_lower_case: bool | None = None,
    preset: "Preset | None" = None,
    vocab_size: int | None = None,
    config_file: str = "the configuration",
) -> FullTokenizer:
    """Loads the tokenizer whose vocabulary and casing fit a model.

    Args:
        vocab_file: path of the vocabulary.
        do_lower_case: whether to lower-case text. None = as the files beside
            the vocabulary or the weights state.
        preset: Preset of the weights. None = only the vocabulary's folder may
            state the casing.
        vocab_size: size of the model's vocabulary. None skips this check.
            Without weights, it must be at most twice the vocabulary.
        config_file: path of the configuration, for messages.

    Raises:
        ValueError: the vocabulary does not fit the model. Or the flag and the
            files disagree on the casing, or none of them says it.
        OSError: the vocabulary cannot be read.
    """
    vocabulary = read_vocabulary(vocab_file)
    vocabulary.check_tokens()
    if vocab_size and preset is None:
        _check_size_of_new_model(vocabulary, vocab_size, config_file)
    if vocab_size is not None:
        vocabulary.check_size(vocab_size)
    casing = decide_casing(vocabulary, do_lower_case, preset)
    return FullTokenizer(vocabulary, casing)


def _check_size_of_new_model(
    vocabulary: Vocabulary, vocab_size: int, config_file: str
) -> None:
    """Raises a ValueError unless a vocabulary fits a model without weights.

    The vocabulary prescribes the model's size. A vocabulary that is a little
    smaller may be Google's.
    """
    num_entries = vocabulary.count_entries()
    if not num_entries <= vocab_size <= 2 * num_entries:
        raise ValueError(
            f"{vocabulary.path} contains {num_entries} WordPieces, but "
            f"vocab_size is {vocab_size}; set vocab_size to {num_entries} in "
            f"{config_file} or a copy of it"
        )
