r"""Learns a WordPiece vocabulary from raw text, or extends one.

    python -m tools.create_vocabulary --input_file=corpus.txt \
        --output_file=vocab.txt

Pass the output to the other scripts as --vocab_file. The file bert_config.json
beside it is the configuration of BERT-Base with this vocabulary, for
--bert_config_file. Change the other sizes in it as you like. A file that is
already there is not changed. With --extend=VOCAB the
tool adds words of the text to the vocabulary VOCAB. The new words replace the
[unusedN] entries, and any remaining words are appended. Then extend the model
with tools.convert_checkpoint --extended_vocab_file.
"""

import os
import time

from command_line import cli
from data.io import text_files
from data.text import vocabulary_learning
from files.atomic import write_bytes
from model_folders import tokenizer_files
from options.parsed_command import ParsedCommand
from tools.vocabulary.vocabulary_config import VocabularyConfig
from tools.vocabulary.vocabulary_stages import (
    choose_casing_file,
    count_words_of_files,
    print_extension,
    read_old_vocab,
    write_configuration,
    write_vocabulary,
)


def main(parsed: ParsedCommand[VocabularyConfig]) -> None:
    """Learns or extends a vocabulary, writes it and prints its statistics."""
    config = parsed.config
    begin_time = time.monotonic()
    casing_file = choose_casing_file(config)
    input_files = text_files.expand_patterns(config.input_file, "input_file")
    old_vocab = read_old_vocab(config)
    counts = count_words_of_files(input_files, config.do_lower_case)
    vocab = write_vocabulary(config, old_vocab, counts)
    if casing_file:
        contents = tokenizer_files.format_tokenizer_config(config.do_lower_case)
        write_bytes(casing_file, contents)
    if old_vocab is None:
        # tools.convert_checkpoint writes the configuration of an extended
        # model.
        write_configuration(os.path.dirname(config.output_file), len(vocab))
    else:
        print_extension(old_vocab, vocab, counts)
    wordpieces = vocabulary_learning.count_corpus_wordpieces(vocab, counts)
    share_unknown = wordpieces.num_unknown / wordpieces.num_wordpieces
    seconds = time.monotonic() - begin_time
    print(
        f"{len(vocab):,} WordPieces written to {config.output_file} in "
        f"{seconds:.1f} s; {share_unknown:.3%} [UNK] in the input"
    )


command = cli.Command(main, VocabularyConfig)

if __name__ == "__main__":
    command()
