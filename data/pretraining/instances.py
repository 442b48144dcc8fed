"""Creates pretraining instances: sentence pairs with masked WordPieces.

The method is from Devlin et al. 2018, section 3.1 and appendix A.1-A.2. With
the same seed, this module draws the same random numbers as Google's
create_pretraining_data.py. dynamic_masking.py masks with the same
probabilities. Lengths are numbers of WordPieces. The text of an instance:

    [CLS] a tug left the [MASK] early [SEP] it pulled two barges [SEP]
"""

import dataclasses
import itertools
import random
from collections import deque
from collections.abc import Iterable, MutableSequence, Sequence
from typing import NamedTuple, TypeVar

from data.pretraining.documents import (
    Continuation,
    Document,
    EncodedToken,
    EncodedVocabulary,
)
from data.pretraining.pretraining_options import InstanceOptions

T = TypeVar("T")


class TrainingInstance(NamedTuple):
    """A pair of segments with masked WordPieces.

    Attributes:
        tokens: WordPieces after masking. Segment 0 ends with the first [SEP].
        b_start: index of the first WordPiece of segment 1.
        is_random_next: whether segment 1 was drawn at random.
        positions: the masked positions, in ascending order.
        labels: the original WordPieces at these positions.
    """

    tokens: list[EncodedToken]
    b_start: int
    is_random_next: bool
    positions: list[int]
    labels: list[EncodedToken]


class MaskedTokens(NamedTuple):
    """The WordPieces of an instance, of which some are masked.

    Attributes:
        tokens: the WordPieces after masking.
        positions: the positions of the WordPieces to predict, in ascending
            order.
        labels: the original WordPieces at these positions.
    """

    tokens: list[EncodedToken]
    positions: list[int]
    labels: list[EncodedToken]


@dataclasses.dataclass(frozen=True)
class InstanceCreator:
    """Creates instances from documents, and masks WordPieces in them.

    Attributes:
        vocabulary: the WordPieces, encoded.
        options: the lengths and probabilities.
        rng: generator of the random draws, in the order of Google's code.
    """

    vocabulary: EncodedVocabulary
    options: InstanceOptions
    rng: random.Random

    def create_instances_from_document(
        self,
        all_documents: Sequence[Document],
        document_index: int,
    ) -> list[TrainingInstance]:
        """Creates the instances of one pass over one document.

        Collects sentences up to the target length. The first sentences become
        segment A. With probability 0.5, the other sentences become segment B.
        Otherwise segment B comes from another document, and the next instance
        begins with the other sentences.

        If the option `dynamic_masking` is on, no WordPieces are masked.

        Args:
            all_documents: documents from which segment B may come.
            document_index: index of the document in `all_documents`.
        """
        document = all_documents[document_index]
        # Without [CLS] and two [SEP].
        max_num_tokens = self.options.max_seq_length - 3
        target_seq_length = self._draw_target_length(max_num_tokens)
        lengths = list(map(len, document))
        instances = []
        start = 0
        while start < len(document):
            end = _compute_end(lengths, start, target_seq_length)
            a_end = start + 1
            if end - start >= 2:
                a_end = start + self.rng.randint(1, end - start - 1)
            tokens_a = _join_sentences(document[start:a_end])
            is_random_next = end - start == 1 or self.rng.random() < 0.5
            if is_random_next:
                tokens_b = _draw_tokens(
                    all_documents,
                    document_index,
                    target_seq_length - len(tokens_a),
                    self.rng,
                )
                start = a_end  # The sentences after A begin the next instance.
            else:
                tokens_b = _join_sentences(document[a_end:end])
                start = end
            truncate_seq_pair(tokens_a, tokens_b, max_num_tokens, self.rng)
            instances.append(
                self._create_instance(tokens_a, tokens_b, is_random_next)
            )
        return instances

    def _draw_target_length(self, max_num_tokens: int) -> int:
        """Draws the length that both segments of an instance have together."""
        if self.rng.random() < self.options.short_seq_prob:
            return self.rng.randint(2, max_num_tokens)
        return max_num_tokens

    def _create_instance(
        self,
        tokens_a: Iterable[EncodedToken],
        tokens_b: Iterable[EncodedToken],
        is_random_next: bool,
    ) -> TrainingInstance:
        """Creates an instance of two segments, and masks its WordPieces."""
        sep = self.vocabulary["[SEP]"]
        first = [self.vocabulary["[CLS]"], *tokens_a, sep]
        tokens = [*first, *tokens_b, sep]
        b_start = len(first)
        positions: list[int] = []
        labels: list[EncodedToken] = []
        if not self.options.dynamic_masking:
            candidates = [
                *range(1, b_start - 1),
                *range(b_start, len(tokens) - 1),
            ]
            tokens, positions, labels = self.create_masked_lm_predictions(
                tokens, candidates
            )
        return TrainingInstance(
            tokens, b_start, is_random_next, positions, labels
        )

    def create_masked_lm_predictions(
        self,
        tokens: Sequence[EncodedToken],
        candidates: Sequence[int],
    ) -> MaskedTokens:
        """Chooses and masks the WordPieces to predict.

        A chosen WordPiece becomes [MASK] with the probability `mask_token_prob`
        (by default 0.8), stays unchanged with `same_token_prob` (0.1), and
        becomes a random WordPiece otherwise.

        Args:
            tokens: the WordPieces of an instance.
            candidates: positions of all WordPieces except [CLS] and [SEP].
        """
        options = self.options
        num_to_predict = min(
            options.max_predictions_per_seq,
            max(1, round(len(tokens) * options.masked_lm_prob)),
        )
        if options.do_whole_word_mask:
            chosen = _choose_words(tokens, candidates, num_to_predict, self.rng)
        else:
            shuffled = [*candidates]
            shuffle(shuffled, self.rng)
            chosen = shuffled[:num_to_predict]

        # Google's code replaces the WordPieces in the order in which it chose
        # them.
        output_tokens = self._replace_tokens(tokens, chosen)
        positions = sorted(chosen)
        labels = [tokens[position] for position in positions]
        return MaskedTokens(output_tokens, positions, labels)

    def _replace_tokens(
        self,
        tokens: Sequence[EncodedToken],
        chosen: Sequence[int],
    ) -> list[EncodedToken]:
        """Returns the tokens after masking the positions in `chosen`."""
        # Of the chosen WordPieces that do not become [MASK], the fraction
        # `same_of_others` stays unchanged. It is rounded, so that
        # 0.1 / (1.0 - 0.8) is exactly 0.5, as in Google's code.
        mask = self.vocabulary["[MASK]"]
        mask_prob = self.options.mask_token_prob
        same_of_others = 0.0
        if mask_prob < 1.0:
            same_of_others = round(
                self.options.same_token_prob / (1.0 - mask_prob), 9
            )
        random_draw = self.rng.random
        output_tokens = list(tokens)
        for index in chosen:
            if random_draw() < mask_prob:
                output_tokens[index] = mask
            elif random_draw() >= same_of_others:
                output_tokens[index] = self.rng.choice(
                    self.vocabulary.encoded_tokens
                )
        return output_tokens


def _compute_end(lengths: Sequence[int], start: int, target_length: int) -> int:
    """Computes how many sentences are needed for a length.

    Examples:
        The sentences 1 and 2 have 4 + 5 WordPieces. No sentence follows them:

        >>> lengths = [3, 4, 5]
        >>> _compute_end(lengths, start=1, target_length=8)
        3
        >>> _compute_end(lengths, start=1, target_length=99)
        3

    Args:
        lengths: length of each sentence of a document.
        start: index of the first sentence to use.
        target_length: length to reach, unless the document is too short.

    Returns:
        index after the last sentence to use.
    """
    end = start
    chunk_length = 0
    while end < len(lengths) and chunk_length < target_length:
        chunk_length += lengths[end]
        end += 1
    return end


def _join_sentences(
    sentences: Iterable[Sequence[EncodedToken]],
) -> deque[EncodedToken]:
    return deque(itertools.chain.from_iterable(sentences))


def _draw_tokens(
    all_documents: Sequence[Document],
    document_index: int,
    target_length: int,
    rng: random.Random,
) -> deque[EncodedToken]:
    """Draws the WordPieces of segment B from a random other document.

    Joins successive sentences, beginning with a random sentence, until there
    are at least `target_length` WordPieces or the document ends. As in Google's
    code, the function draws a document at most ten times. If each draw is the
    document of segment A, segment B comes from this document too.
    """
    for _ in range(10):
        random_index = rng.randint(0, len(all_documents) - 1)
        if random_index != document_index:
            break
    document = all_documents[random_index]
    tokens: deque[EncodedToken] = deque()
    for sentence in document[rng.randint(0, len(document) - 1) :]:
        tokens.extend(sentence)
        if len(tokens) >= target_length:
            break
    return tokens


def truncate_seq_pair(
    tokens_a: deque[EncodedToken],
    tokens_b: deque[EncodedToken],
    max_num_tokens: int,
    rng: random.Random,
) -> None:
    """Truncates two deques, in place, to a total length of `max_num_tokens`.

    Removes one token at a time from the longer deque, at random from its front
    or its back.
    """
    while len(tokens_a) + len(tokens_b) > max_num_tokens:
        longer = tokens_a if len(tokens_a) > len(tokens_b) else tokens_b
        remove = longer.popleft if rng.random() < 0.5 else longer.pop
        remove()


def _choose_words(
    tokens: Sequence[EncodedToken],
    candidates: Sequence[int],
    num_to_predict: int,
    rng: random.Random,
) -> list[int]:
    """Chooses whole words to predict, and returns their positions."""
    # For each word, the positions of its WordPieces.
    words: list[list[int]] = []
    for index in candidates:
        if words and isinstance(tokens[index], Continuation):
            words[-1].append(index)
        else:
            words.append([index])
    shuffle(words, rng)
    chosen: list[int] = []
    # Skip a word if masking it would exceed `num_to_predict` WordPieces.
    for word in words:
        if len(chosen) + len(word) <= num_to_predict:
            chosen.extend(word)
        if len(chosen) == num_to_predict:
            break
    return chosen


def shuffle(items: MutableSequence[T], rng: random.Random) -> None:
    """Shuffles items in place, as rng.shuffle(items) does, in half the time."""
    getrandbits = rng.getrandbits
    bound = len(items)
    while bound > 1:
        # Bounds of the same bit length need equally many random bits. To save
        # time, call bit_length() once for all of these bounds.
        num_bits = bound.bit_length()
        lowest = 1 << (num_bits - 1)
        for last in range(bound - 1, lowest - 2, -1):
            draw = getrandbits(num_bits)
            while draw > last:
                draw = getrandbits(num_bits)
            items[last], items[draw] = items[draw], items[last]
        bound = lowest - 1
