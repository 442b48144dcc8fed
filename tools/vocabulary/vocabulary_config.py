"""The flags of tools/create_vocabulary.py."""

import dataclasses

from options.config import Config
from options.fields import PathType, option


@dataclasses.dataclass(frozen=True, kw_only=True)
class VocabularyConfig(Config):
    """The text to read, and the vocabulary to learn."""

    input_file: str = option(
        ...,
        "Text files to read, as comma-separated paths or patterns. The files "
        "may be packed with gzip, bzip2, xz or zstd.",
        path_type=PathType.INPUT_FILES,
    )
    output_file: str = option(
        ..., "Vocabulary file to write.", path_type=PathType.OUTPUT_FILE
    )
    vocab_size: int = option(
        30522,
        "Maximum number of entries of the vocabulary.",
        at_least=6,
        at_most=1 << 24,
    )
    do_lower_case: bool = option(
        True, "Lower-case the text, for an uncased vocabulary."
    )
    num_unused: int = option(
        99,
        "Number of [unusedN] entries, which --extend can replace by words "
        "later. With 99 or more, the special tokens get the same ids as in "
        "Google's vocabularies.",
        at_least=0,
    )
    extend: str | None = option(
        None,
        "Vocabulary to which the tool adds words. The WordPieces that it "
        "already contains keep their ids.",
        path_type=PathType.INPUT_FILE,
    )
    num_new_words: int | None = option(
        None,
        "Maximum number of words to add with --extend. The tool adds the words "
        "that shorten the texts most, counted in WordPieces. The default is "
        "the number of [unusedN] entries.",
        at_least=1,
        at_most=1 << 24,
    )
