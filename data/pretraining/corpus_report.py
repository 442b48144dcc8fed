"""Describes a corpus and its instances, and warns of likely mistakes."""

from collections.abc import Iterator, Mapping, Sequence

# Thresholds beyond which something is usually wrong.
_MANY_UNKNOWN = 0.02
_FEW_SENTENCES = 1.5
_LONG_SENTENCE = 256


def count(documents: Sequence[list[list[str]]]) -> dict[str, int]:
    """Counts documents in memory.

    Args:
        documents: list of documents, as of `instances.read_documents`.

    Returns:
        dict as of `token_store.tokenize_block`.
    """
    sentences = [tokens for document in documents for tokens in document]
    return {
        "num_tokens": sum(map(len, sentences)),
        "num_sentences": len(sentences),
        "num_documents": len(documents),
        "num_unknown": sum(tokens.count("[UNK]") for tokens in sentences),
    }


def lines(corpus: Mapping[str, int]) -> Iterator[tuple[str, bool]]:
    """Describes a corpus.

    Args:
        corpus: dict of `token_store.COUNTS`, and num_dropped_bytes or not.

    Yields:
        (line, whether it is a warning).
    """
    num_documents = corpus["num_documents"]
    num_sentences, num_tokens = corpus["num_sentences"], corpus["num_tokens"]
    unknown = corpus["num_unknown"] / num_tokens
    yield (
        f"corpus: {num_documents:,} documents, {num_sentences:,} sentences, "
        f"{num_tokens:,} WordPieces, {unknown:.2%} [UNK]",
        False,
    )
    if num_documents == 1:
        yield (
            "the input is one document, so random next sentences come from "
            "that document too; separate documents by blank lines",
            True,
        )
    elif num_sentences < _FEW_SENTENCES * num_documents:
        yield (
            f"{num_sentences / num_documents:.1f} sentences a document: most "
            "have no next sentence; blank lines belong between documents, "
            "not between sentences",
            True,
        )
    if num_tokens > _LONG_SENTENCE * num_sentences:
        yield (
            f"{num_tokens / num_sentences:.0f} WordPieces a line: lines "
            "should be sentences; --sentence_split splits paragraphs",
            True,
        )
    if unknown > _MANY_UNKNOWN:
        yield (
            f"{unknown:.1%} of the WordPieces are [UNK]: the vocabulary is "
            "of another language, or --do_lower_case contradicts its casing",
            True,
        )
    if corpus.get("num_dropped_bytes"):
        yield (
            f"dropped {corpus['num_dropped_bytes']:,} bytes of the input "
            "that are not UTF-8",
            True,
        )


def statistics(
    plans: Sequence[Mapping], made: Sequence[Mapping], max_seq_length: int
) -> dict[str, float]:
    """Combines the counts of all stages.

    Args:
        plans: list of the results of `instance_plan.write_plan`.
        made: list of the results of `shards.write_shard`.
        max_seq_length: maximum WordPieces in an instance.

    Returns:
        dict of counts and shares.
    """

    def total(name: str) -> int:
        return sum(part[name] for part in (*plans, *made) if name in part)

    num_instances = sum(plan["num_instances"] for plan in plans)
    num_pieces = total("num_pieces")
    found = {
        "num_instances": num_instances,
        "mean_length": num_pieces / num_instances,
        "share_random_next": total("num_random_next") / num_instances,
        "share_short": total("num_short") / num_instances,
        "share_padding": total("num_padded") / num_instances / max_seq_length,
    }
    if num_masked := total("num_masked"):
        found |= {
            "share_masked": num_masked / num_pieces,
            "share_masked_as_mask": total("num_as_mask") / num_masked,
            "share_masked_kept": total("num_kept") / num_masked,
        }
    return found
