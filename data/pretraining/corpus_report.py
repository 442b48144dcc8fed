"""Logs statistics of a corpus, and warns of likely mistakes in the input."""

from collections import Counter
from collections.abc import Mapping, Sequence

from absl import logging

from data.pretraining.documents import UNKNOWN

CORPUS_COUNTS = (
    "num_tokens",
    "num_sentences",
    "num_documents",
    "num_unknown",
    "num_dropped_bytes",
)
# The input or a flag is usually wrong if more than this fraction of the
# WordPieces are [UNK], if documents have fewer sentences on average, or if
# sentences have more WordPieces on average.
_MANY_UNKNOWN = 0.02
_FEW_SENTENCES = 1.5
_LONG_SENTENCE = 256


def log(corpus: Mapping[str, int], input_files: Sequence[str]) -> None:
    """Logs statistics of a corpus, and warns of likely mistakes.

    `corpus` is {name: count}, with the names in CORPUS_COUNTS and the other
    names that `TextReader.read` counts.

    Raises:
        ValueError: the input files contain no text.
    """
    num_documents = corpus["num_documents"]
    if not num_documents:
        raise ValueError(
            f"no text in the input: {', '.join(input_files)}; use files "
            "with one sentence a line and blank lines between documents"
        )
    num_sentences, num_tokens = corpus["num_sentences"], corpus["num_tokens"]
    unknown = corpus["num_unknown"] / num_tokens
    logging.info(
        f"corpus: {num_documents:,} documents, {num_sentences:,} sentences, "
        f"{num_tokens:,} WordPieces, {unknown:.2%} [UNK]"
    )
    if unknown_words := _unknown_words(corpus, 20):
        logging.info(
            "the most frequent words that became [UNK]: %s",
            ", ".join(
                f"{name.removeprefix(UNKNOWN)} ({count:,})"
                for name, count in unknown_words.items()
            ),
        )
    equal = [
        corpus.get(f"num_equal_{x}", 0) for x in ("sentences", "documents")
    ]
    if any(equal):
        logging.info(
            f"{equal[0]:,} sentences and {equal[1]:,} documents repeat an "
            "earlier text of the same file (large files are split into parts "
            "of about 4 MB, and each text is compared within its part)"
        )
    if num_documents == 1:
        logging.warning(
            "the input is one document, so random next sentences come from "
            "the same document. Separate documents by blank lines"
        )
    else:
        log_next(corpus, "training set")
    if 1 < num_documents and num_sentences < _FEW_SENTENCES * num_documents:
        logging.warning(
            f"{num_sentences / num_documents:.1f} sentences per document: most "
            "sentences have no next sentence. Put blank lines only between "
            "documents, not between sentences"
        )
    if num_tokens > _LONG_SENTENCE * num_sentences:
        logging.warning(
            f"{num_tokens / num_sentences:.0f} WordPieces per line, but each "
            "line should be a sentence. Set --sentence_split to split "
            "paragraphs into sentences"
        )
    if unknown > _MANY_UNKNOWN:
        logging.warning(
            f"{unknown:.1%} of the WordPieces are [UNK]. Check that the "
            "vocabulary is for the language of the input, and that "
            "--do_lower_case fits the vocabulary"
        )
    if dropped := corpus.get("num_dropped_bytes"):
        logging.warning(
            f"dropped {dropped:,} bytes of the input that are not UTF-8"
        )


def without_rare_words(counts: Mapping[str, int]) -> dict[str, int]:
    """Keeps only the 1,000 most frequent of the words that became [UNK].

    This limits the size of a task's result file. All other counts are kept.
    """
    others = {k: n for k, n in counts.items() if not k.startswith(UNKNOWN)}
    return others | _unknown_words(counts, 1000)


def _unknown_words(counts: Mapping[str, int], most: int) -> dict[str, int]:
    found = {k: n for k, n in counts.items() if k.startswith(UNKNOWN)}
    return dict(Counter(found).most_common(most))


def log_next(counts: Mapping[str, int], which: str) -> None:
    """Warns if random next sentences come from segment A's own document.

    `counts` is the Counter that `parts.create_records` updated. `which` names
    the set of instances in the message, such as "training set".
    """
    if number := counts.get("num_same_document"):
        logging.warning(
            f"{which}: {number:,} of {counts['num_random_next']:,} random next "
            "sentences come from the same document, because no other document "
            "was in memory. Split long documents by blank lines"
        )


def statistics(
    counts: Mapping[str, int], max_seq_length: int
) -> dict[str, float]:
    """Returns statistics of the instances for the manifest.

    These are the number of instances, their mean length in WordPieces, and
    several fractions: of instances that are short or have a random next
    sentence, of positions that are padding, of WordPieces that are masked.
    `counts` are the counts that `parts.write_shards` writes.
    """
    num_instances, num_pieces = counts["num_instances"], counts["num_pieces"]
    mean_length = num_pieces / num_instances
    found = {
        "num_instances": num_instances,
        "mean_length": mean_length,
        "share_random_next": counts["num_random_next"] / num_instances,
        "share_short": counts["num_short"] / num_instances,
        "share_padding": 1.0 - mean_length / max_seq_length,
    }
    if num_masked := counts["num_masked"]:
        found |= {
            "share_masked": num_masked / num_pieces,
            "share_masked_as_mask": counts["num_as_mask"] / num_masked,
            "share_masked_kept": counts["num_kept"] / num_masked,
        }
    return found
