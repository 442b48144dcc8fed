"""Tokenizes text into WordPieces (Devlin et al. 2018, section 3).

    "Unaffable, isn't it?" -> una ##ffa ##ble , isn ' t it ?

All other tokenizers in this project must return the same WordPieces.
"""

import functools
import os
import re
import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from data.arrays import IntArray
from data.text import text_lists
from data.text.characters import clean_text
from data.text.text_lists import TextsLike
from data.text.token_windows import (
    PaddedInput,
    join_tokens,
    pad_input,
    stack_inputs,
)
from data.text.vocabulary_files import Vocabulary, read_vocabulary
from data.text.wordpiece import (
    SPECIAL_TOKENS,
    BasicTokenizer,
    WordCache,
    WordpieceTokenizer,
    split_around,
)
from model_folders.model_json import TokenizerIdentity

if TYPE_CHECKING:
    from data.text.tokenizer_layer import TokenizerLayer
    from model_folders.reading.preset import PathOrPreset

# Number of characters that `tokenize_beginning` tokenizes at a time.
_CHUNK_LENGTH = 8192
# Matches white space or an ideograph: a word always ends before them.
_BORDER = re.compile("[ \t\n\r\u3400-\u4dbf\u4e00-\u9fff]")


class FullTokenizer:
    """Splits text into words, then words into WordPieces.

    Args:
        vocab_file: path of a vocabulary with one WordPiece a line, or of a
            tokenizer.json of transformers. Or the Vocabulary in it, if it is
            already read.
        do_lower_case: whether to lower-case the text and strip accents. None =
            as the tokenizer.json states, and True for any other file.
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
        words = SPECIAL_TOKENS if special_tokens_in_strings else ()
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
        from data.text.casing import decide_casing
        from model_folders.reading.preset import Preset, read_preset

        if isinstance(path_or_preset, Preset):
            preset = path_or_preset
        else:
            preset = read_preset(path_or_preset)
        if preset.vocab_file is None:
            raise FileNotFoundError(
                f"{preset.path} contains no vocab.txt or tokenizer.json"
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
        """Returns the WordPieces of a text, in which `words` stay whole."""
        return split_around(text, words, self._tokenize_plain)

    def _tokenize_plain(self, text: str) -> list[str]:
        return self._tokens_of_words.of_all(clean_text(text).split())

    def tokenize_beginning(
        self, text: str, num_tokens: int, words: Collection[str] | None = None
    ) -> list[str]:
        """Returns at least the first `num_tokens` WordPieces of a long text.

        Args:
            text: a text of any length, of which only the beginning is split.
            num_tokens: number of WordPieces that are needed.
            words: words that stay whole, by default `special_words`.
        """
        words = self.special_words if words is None else words
        tokens: list[str] = []
        start = 0
        while start < len(text) and len(tokens) < num_tokens:
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
