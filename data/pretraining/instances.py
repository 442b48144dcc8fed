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
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from absl import logging

from data.io import records, text_files
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


class InstanceEncoder:
    """Encodes instances as records: the original's features, padded with zeros.

    Args:
        vocab: dict of WordPiece to id.
        options: InstanceOptions. With `dynamic_masking` the records have no
            masks.
    """

    def __init__(
        self, vocab: Mapping[str, int], options: InstanceOptions
    ) -> None:
        ids = np.array(list(vocab.values()))
        self._ids = dict(
            zip(vocab, records.encode_rows(ids[:, None]), strict=True)
        )
        positions = np.arange(options.max_seq_length)
        self._positions = records.encode_rows(positions[:, None])
        self._options = options

    def __call__(self, instance: TrainingInstance) -> bytes:
        """Returns the record of a TrainingInstance."""
        num_tokens = len(instance.tokens)
        padding = bytes(self._options.max_seq_length - num_tokens)
        # Encoded piece by piece from tables: lists of numbers take four times
        # as long.
        to_id = self._ids.__getitem__
        features: dict[str, bytes | list[float]] = {
            "input_ids": b"".join(map(to_id, instance.tokens)) + padding,
            "input_mask": b"\1" * num_tokens + padding,
            "segment_ids": bytes(instance.segment_ids) + padding,
        }
        if not self._options.dynamic_masking:
            positions = instance.masked_lm_positions
            num_padded = self._options.max_predictions_per_seq - len(positions)
            padding = bytes(num_padded)
            features |= {
                "masked_lm_positions": b"".join(
                    map(self._positions.__getitem__, positions)
                )
                + padding,
                "masked_lm_ids": b"".join(map(to_id, instance.masked_lm_labels))
                + padding,
                "masked_lm_weights": [1.0] * len(positions)
                + [0.0] * num_padded,
            }
        features["next_sentence_labels"] = bytes([instance.is_random_next])
        return records.encode_example(features)


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
        tokens_a = list(itertools.chain.from_iterable(chunk[:a_end]))
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
            tokens_b = list(itertools.chain.from_iterable(chunk[a_end:]))
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
    lengths = [len(tokens_a), len(tokens_b)]
    num_dropped = max(sum(lengths) - max_num_tokens, 0)
    is_front = [rng.random() < 0.5 for _ in range(num_dropped)]
    # The longer list loses tokens until both are equally long. Then they take
    # turns, and B begins.
    num_uneven = abs(lengths[0] - lengths[1])
    drops = [is_front[num_uneven + 1 :: 2], is_front[num_uneven::2]]
    drops[lengths[0] < lengths[1]] += is_front[:num_uneven]
    for tokens, dropped in zip((tokens_a, tokens_b), drops, strict=True):
        if dropped:
            front = sum(dropped)
            tokens[:] = tokens[front : len(tokens) - len(dropped) + front]
