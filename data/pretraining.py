"""Text to pretraining instances: sentence pairs with masked WordPieces.

Devlin et al. 2018, section 3.1 and appendix A.1-A.2; the original's
create_pretraining_data.py, draw for draw. A segment is a sentence, a list of
WordPieces; a document is a list of segments; lengths count WordPieces.

    [CLS] a tug left the [MASK] early [SEP] it pulled two barges [SEP]
"""

import collections
import dataclasses

from absl import logging

from data import corpus_report, files


@dataclasses.dataclass(slots=True)
class TrainingInstance:
    """One pair of segments.

    Attributes:
        tokens: list of str, the WordPieces after masking.
        segment_ids: list of int, 0 up to the first [SEP], then 1.
        masked_lm_positions: list of int, ascending.
        masked_lm_labels: list of str, what stood at those positions.
        is_random_next: whether the second segment was drawn at random.
    """

    tokens: list
    segment_ids: list
    masked_lm_positions: list
    masked_lm_labels: list
    is_random_next: bool

    def __str__(self):
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


def read_documents(input_files, tokenizer):
    """Reads text, one sentence a line, blank lines between documents.

    Args:
        input_files: paths; one that ends in `.gz` is unpacked. A document
            may go on from one file to the next, as in the original.
        tokenizer: a FullTokenizer.

    Returns:
        list of documents, those without a WordPiece left out.

    Raises:
        ValueError: there is no document.
    """
    documents = [[]]
    dropped = collections.Counter()
    for input_file in input_files:
        for line in files.read_lines(input_file, dropped):
            line = line.strip()
            if not line:
                documents.append([])
                continue
            tokens = tokenizer.tokenize(line)
            if tokens:
                documents[-1].append(tokens)
    if warning := files.dropped_bytes_warning(dropped):
        logging.warning(warning)
    documents = [document for document in documents if document]
    if not documents:
        raise ValueError(
            f"no text in the input: {', '.join(input_files)}; give files "
            "with one sentence a line and blank lines between documents"
        )
    return documents


def instance_features(
    instance, tokenizer, max_seq_length, max_predictions_per_seq
):
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
    input_files,
    tokenizer,
    max_seq_length,
    dupe_factor,
    short_seq_prob,
    masked_lm_prob,
    max_predictions_per_seq,
    rng,
    do_whole_word_mask=False,
    progress=lambda passes, total: passes,
    mask_token_prob=0.8,
    same_token_prob=0.1,
):
    """Creates instances from raw text, shuffled.

    Args:
        input_files: paths, see `read_documents`.
        tokenizer: a FullTokenizer.
        max_seq_length: most WordPieces in an instance, 5 or more.
        dupe_factor: times that each document is gone through.
        short_seq_prob: share of passes over a document that aim at shorter
            instances.
        masked_lm_prob: share of WordPieces to predict.
        max_predictions_per_seq: most WordPieces to predict.
        rng: random.Random.
        do_whole_word_mask: whether a word is masked whole or not at all.
        progress: wraps the iteration over `total` passes over documents.
        mask_token_prob: see `create_masked_lm_predictions`.
        same_token_prob: see there.

    Returns:
        list of TrainingInstance.

    Raises:
        ValueError: the input holds no text.
    """
    documents = read_documents(input_files, tokenizer)
    for line, is_warning in corpus_report.lines(corpus_report.count(documents)):
        logging.log(logging.WARNING if is_warning else logging.INFO, line)
    _shuffle(documents, rng)

    vocab_words = list(tokenizer.vocab)
    instances = []
    passes = [*range(len(documents))] * dupe_factor
    for index in progress(passes, len(passes)):
        instances.extend(
            create_instances_from_document(
                documents,
                index,
                max_seq_length,
                short_seq_prob,
                masked_lm_prob,
                max_predictions_per_seq,
                vocab_words,
                rng,
                do_whole_word_mask,
                mask_token_prob,
                same_token_prob,
            )
        )
    _shuffle(instances, rng)
    return instances


def create_instances_from_document(
    all_documents,
    document_index,
    max_seq_length,
    short_seq_prob,
    masked_lm_prob,
    max_predictions_per_seq,
    vocab_words,
    rng,
    do_whole_word_mask=False,
    mask_token_prob=0.8,
    same_token_prob=0.1,
):
    """Creates the instances of one pass over one document.

    Segments are gathered until they reach the target length; then some of
    them become A, and B is either the others or, half the time, segments
    drawn from another document, the others being put back.

    Args:
        all_documents: list of documents.
        document_index: the one to go through.
        max_seq_length: most WordPieces in an instance, 5 or more.
        short_seq_prob: probability of aiming at shorter instances.
        masked_lm_prob: share of WordPieces to predict.
        max_predictions_per_seq: most WordPieces to predict.
        vocab_words: list of str that random words are drawn from.
        rng: random.Random.
        do_whole_word_mask: whether a word is masked whole or not at all.
        mask_token_prob: see `create_masked_lm_predictions`.
        same_token_prob: see there.

    Returns:
        list of TrainingInstance.
    """
    document = all_documents[document_index]
    max_num_tokens = max_seq_length - 3  # [CLS], [SEP], [SEP]
    target_seq_length = max_num_tokens
    if rng.random() < short_seq_prob:
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
            masked_lm_prob,
            max_predictions_per_seq,
            vocab_words,
            rng,
            do_whole_word_mask,
            mask_token_prob,
            same_token_prob,
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


def _draw_tokens(all_documents, document_index, target_length, rng):
    """Segments of another document from a random one on, as one list."""
    # Ten tries to find another document, then the same will do.
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


def create_masked_lm_predictions(
    tokens,
    masked_lm_prob,
    max_predictions_per_seq,
    vocab_words,
    rng,
    do_whole_word_mask=False,
    mask_token_prob=0.8,
    same_token_prob=0.1,
):
    """Masks WordPieces to be predicted.

    Of those chosen, 80% become [MASK], 10% stay, 10% become a random word;
    each WordPiece of a whole word has a draw of its own.

    Args:
        tokens: list of str with [CLS] and [SEP], which are never masked.
        masked_lm_prob: share of WordPieces to predict.
        max_predictions_per_seq: most WordPieces to predict.
        vocab_words: list of str that random words are drawn from.
        rng: random.Random.
        do_whole_word_mask: whether a word is masked whole or not at all.
        mask_token_prob: share of those chosen that become [MASK].
        same_token_prob: share that stay; the rest become random words.

    Returns:
        (tokens after masking, positions ascending, labels), three lists.
    """
    candidates = []
    for index, token in enumerate(tokens):
        if token == "[CLS]" or token == "[SEP]":
            continue
        if do_whole_word_mask and candidates and token.startswith("##"):
            candidates[-1].append(index)
        else:
            candidates.append([index] if do_whole_word_mask else index)
    _shuffle(candidates, rng)
    num_to_predict = min(
        max_predictions_per_seq,
        max(1, int(round(len(tokens) * masked_lm_prob))),
    )
    if do_whole_word_mask:
        # A word that would exceed the number is passed over.
        chosen = []
        for word in candidates:
            if len(chosen) + len(word) <= num_to_predict:
                chosen.extend(word)
    else:
        chosen = candidates[:num_to_predict]

    # Of those that do not become [MASK]; rounded, for 0.1 of 0.2 to be 0.5.
    others = 1.0 - mask_token_prob
    same_of_others = round(same_token_prob / others, 9) if others else 0.0
    output_tokens = list(tokens)
    for index in chosen:
        if rng.random() < mask_token_prob:
            output_tokens[index] = "[MASK]"
        elif rng.random() >= same_of_others:
            output_tokens[index] = vocab_words[
                rng.randint(0, len(vocab_words) - 1)
            ]
    chosen.sort()
    return output_tokens, chosen, [tokens[index] for index in chosen]


def truncate_seq_pair(tokens_a, tokens_b, max_num_tokens, rng):
    """Truncates two lists, in place, to a length together.

    The longer one loses a token, from its front or its back by a draw, until
    they fit.
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


def _shuffle(items, rng):
    """rng.shuffle(items), draw for draw, in less than half its time."""
    getrandbits = rng.getrandbits
    bound = len(items)
    while bound > 1:
        # The bounds of one bit length are taken together.
        num_bits = bound.bit_length()
        lowest = 1 << (num_bits - 1)
        for last in range(bound - 1, lowest - 2, -1):
            draw = getrandbits(num_bits)
            while draw > last:
                draw = getrandbits(num_bits)
            items[last], items[draw] = items[draw], items[last]
        bound = lowest - 1
