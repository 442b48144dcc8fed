"""Creates pretraining instances: sentence pairs with masked WordPieces.

Devlin et al. 2018, section 3.1 and appendix A.1-A.2; the original's
create_pretraining_data.py, draw for draw. A segment is a sentence, a list of
WordPieces; a document is a list of segments; lengths count WordPieces.

    [CLS] a tug left the [MASK] early [SEP] it pulled two barges [SEP]
"""

import collections
import dataclasses
import itertools
import random
from collections.abc import Callable, Iterable, Sequence

from absl import logging

from data.io import text_files
from data.pretraining import corpus_report
from data.pretraining.masking import create_masked_lm_predictions, shuffle
from data.pretraining.options import InstanceOptions
from data.text.tokenization import FullTokenizer

# A document is a list of segments, a segment a list of WordPieces.
Document = list[list[str]]


@dataclasses.dataclass(slots=True)
class TrainingInstance:
    """One pair of segments.

    Attributes:
        tokens: list of str, the WordPieces after masking.
        segment_ids: list of int, 0 up to the first [SEP], then 1.
        masked_lm_positions: list of int, ascending.
        masked_lm_labels: list of str, the original tokens at those positions.
        is_random_next: whether the second segment was drawn at random.
    """

    tokens: list[str]
    segment_ids: list[int]
    masked_lm_positions: list[int]
    masked_lm_labels: list[str]
    is_random_next: bool

    def __str__(self) -> str:
        """Returns the instance as lines to log."""
        return "\n".join(
            (
                f"tokens: {' '.join(self.tokens)}",
                f"segment_ids: {' '.join(map(str, self.segment_ids))}",
                f"is_random_next: {self.is_random_next}",
                "masked_lm_positions: "
                f"{' '.join(map(str, self.masked_lm_positions))}",
                f"masked_lm_labels: {' '.join(self.masked_lm_labels)}",
                "",
            )
        )


def read_documents(
    input_files: Sequence[str], tokenizer: FullTokenizer
) -> list[Document]:
    """Reads text, one sentence a line, blank lines between documents.

    Args:
        input_files: paths; one that ends in `.gz` is unpacked. A document
            may continue in the next file, as in the original.
        tokenizer: a FullTokenizer.

    Returns:
        list of documents, those without a WordPiece left out.

    Raises:
        ValueError: there is no document.
    """
    documents: list[Document] = [[]]
    dropped: collections.Counter[str] = collections.Counter()
    for input_file in input_files:
        for line in text_files.read_lines(input_file, dropped):
            line = line.strip()
            if not line:
                documents.append([])
                continue
            tokens = tokenizer.tokenize(line)
            if tokens:
                documents[-1].append(tokens)
    if warning := text_files.dropped_bytes_warning(dropped):
        logging.warning(warning)
    documents = [document for document in documents if document]
    if not documents:
        raise ValueError(
            f"no text in the input: {', '.join(input_files)}; give files "
            "with one sentence a line and blank lines between documents"
        )
    return documents


def instance_features(
    instance: TrainingInstance,
    tokenizer: FullTokenizer,
    max_seq_length: int,
    max_predictions_per_seq: int,
) -> dict[str, list]:
    """Returns the original's features of an instance, padded with zeros.

    Args:
        instance: a TrainingInstance.
        tokenizer: a FullTokenizer.
        max_seq_length: length of the features that have one value a
            WordPiece.
        max_predictions_per_seq: length of those that have one a prediction.

    Returns:
        dict of name to a list of int or float.
    """
    num_tokens = len(instance.tokens)
    num_masked = len(instance.masked_lm_positions)
    padding = [0] * (max_seq_length - num_tokens)
    mask_padding = [0] * (max_predictions_per_seq - num_masked)
    to_ids = tokenizer.convert_tokens_to_ids
    return {
        "input_ids": to_ids(instance.tokens) + padding,
        "input_mask": [1] * num_tokens + padding,
        "segment_ids": instance.segment_ids + padding,
        "masked_lm_positions": instance.masked_lm_positions + mask_padding,
        "masked_lm_ids": to_ids(instance.masked_lm_labels) + mask_padding,
        "masked_lm_weights": [1.0] * num_masked + [0.0] * len(mask_padding),
        "next_sentence_labels": [int(instance.is_random_next)],
    }


def create_training_instances(
    input_files: Sequence[str],
    tokenizer: FullTokenizer,
    options: InstanceOptions,
    progress: Callable[[Iterable[int], int], Iterable[int]] = (
        lambda passes, total: passes
    ),
) -> list[TrainingInstance]:
    """Creates instances from raw text, shuffled.

    Args:
        input_files: paths, see `read_documents`.
        tokenizer: a FullTokenizer.
        options: InstanceOptions, without `dynamic_masking` or
            `whole_word_draw`, which the original does not have.
        progress: wraps the iteration over `total` passes over documents.

    Raises:
        ValueError: the input holds no text.
    """
    documents = read_documents(input_files, tokenizer)
    for line, is_warning in corpus_report.lines(corpus_report.count(documents)):
        logging.log(logging.WARNING if is_warning else logging.INFO, line)
    rng = random.Random(options.random_seed)
    shuffle(documents, rng)

    vocab_words = list(tokenizer.vocab)
    instances = []
    passes = itertools.chain.from_iterable(
        itertools.repeat(range(len(documents)), options.dupe_factor)
    )
    for index in progress(passes, len(documents) * options.dupe_factor):
        instances.extend(
            create_instances_from_document(
                documents, index, vocab_words, rng, options
            )
        )
    shuffle(instances, rng)
    return instances


def create_instances_from_document(
    all_documents: Sequence[Document],
    document_index: int,
    vocab_words: Sequence[str],
    rng: random.Random,
    options: InstanceOptions,
) -> list[TrainingInstance]:
    """Creates the instances of one pass over one document.

    Segments are collected up to the target length. Some of them become A; B is
    either the rest or, half the time, segments drawn from another document, and
    the rest is put back.

    Args:
        all_documents: list of documents.
        document_index: index of the document.
        vocab_words: list of str that random words are drawn from.
        rng: random.Random.
        options: see `create_training_instances`.
    """
    document = all_documents[document_index]
    max_num_tokens = options.max_seq_length - 3  # [CLS], [SEP], [SEP]
    target_seq_length = max_num_tokens
    if rng.random() < options.short_seq_prob:
        target_seq_length = rng.randint(2, max_num_tokens)

    instances = []
    chunk = []
    chunk_length = 0
    i = 0
    while i < len(document):
        chunk.append(document[i])
        chunk_length += len(document[i])
        i += 1
        if i < len(document) and chunk_length < target_seq_length:
            continue

        a_end = rng.randint(1, len(chunk) - 1) if len(chunk) >= 2 else 1
        tokens_a = [token for segment in chunk[:a_end] for token in segment]
        is_random_next = len(chunk) == 1 or rng.random() < 0.5
        if is_random_next:
            tokens_b = _draw_tokens(
                all_documents,
                document_index,
                target_seq_length - len(tokens_a),
                rng,
            )
            i -= len(chunk) - a_end  # put back
        else:
            tokens_b = [token for segment in chunk[a_end:] for token in segment]
        truncate_seq_pair(tokens_a, tokens_b, max_num_tokens, rng)

        tokens, positions, labels = create_masked_lm_predictions(
            ["[CLS]", *tokens_a, "[SEP]", *tokens_b, "[SEP]"],
            vocab_words,
            rng,
            options,
        )
        segment_ids = [0] * (len(tokens_a) + 2) + [1] * (len(tokens_b) + 1)
        instances.append(
            TrainingInstance(
                tokens, segment_ids, positions, labels, is_random_next
            )
        )
        chunk = []
        chunk_length = 0
    return instances


def _draw_tokens(
    all_documents: Sequence[Document],
    document_index: int,
    target_length: int,
    rng: random.Random,
) -> list[str]:
    """Returns joined segments from a random place in another document."""
    # After ten tries, the same document is accepted.
    for _ in range(10):
        random_index = rng.randint(0, len(all_documents) - 1)
        if random_index != document_index:
            break
    document = all_documents[random_index]
    tokens = []
    for segment in document[rng.randint(0, len(document) - 1) :]:
        tokens.extend(segment)
        if len(tokens) >= target_length:
            break
    return tokens


def truncate_seq_pair(
    tokens_a: list, tokens_b: list, max_num_tokens: int, rng: random.Random
) -> None:
    """Truncates two lists, in place, to a total length.

    The longer one loses a token, at random from its front or back, until they
    fit.
    """
    lists = (tokens_a, tokens_b)
    lengths = [len(tokens_a), len(tokens_b)]
    fronts = [0, 0]
    for _ in range(sum(lengths) - max_num_tokens):
        longer = 0 if lengths[0] > lengths[1] else 1
        lengths[longer] -= 1
        fronts[longer] += rng.random() < 0.5
    for tokens, length, front in zip(lists, lengths, fronts, strict=True):
        if length < len(tokens):
            tokens[:] = tokens[front : front + length]
