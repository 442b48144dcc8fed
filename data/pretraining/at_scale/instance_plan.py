"""Plans which spans of a token store become instances, without masks.

The same choices as `instances.create_instances_from_document`, made with
lengths alone and a generator for each (seed, duplication, document), so that
they do not depend on the order of processing. An instance is two spans of the
store; the plan names its shard.
"""

import bisect
import functools
import itertools
import random
from collections.abc import Iterator, Sequence

import numpy as np

from data.pretraining.at_scale.token_store import TokenStore
from data.pretraining.options import InstanceOptions
from files.atomic import atomic_open

# Number of WordPieces in a range of documents that is planned together.
_RANGE_TOKENS = 2 << 20

ROW_TYPE = np.dtype(
    [
        ("a_start", np.int64),
        ("b_start", np.int64),
        ("a_length", np.uint16),
        ("b_length", np.uint16),
        ("is_random_next", np.bool_),
        ("is_short", np.bool_),  # of a pass that aims at shorter ones
        ("shard", np.uint16),
    ]
)


def document_ranges(store: TokenStore) -> list[tuple[int, int]]:
    """Splits the documents of a store into ranges of similar size.

    Returns:
        list of (first, end).
    """
    borders = [
        bisect.bisect_left(
            range(store.num_documents), position, key=store.document_start
        )
        for position in range(0, store.num_tokens, _RANGE_TOKENS)
    ]
    borders = sorted({*borders, store.num_documents})
    return list(zip(borders[:-1], borders[1:], strict=True))


@functools.lru_cache(maxsize=1)
def split_documents(
    num_documents: int, eval_fraction: float, seed: int
) -> tuple[Sequence[int], Sequence[int]]:
    """Splits documents into those to train on and those held out.

    Returns:
        (numbers of the first, of the second), each sorted. With a fraction
        above 0 there is at least one of each.

    Raises:
        ValueError: there are not two documents to split.
    """
    if not eval_fraction:
        return range(num_documents), ()
    if num_documents < 2:
        raise ValueError(
            f"--eval_fraction={eval_fraction} holds out whole documents, and "
            "the input is one; part documents by blank lines"
        )
    rng = random.Random(f"{seed}/eval")
    number = round(eval_fraction * num_documents)
    number = min(max(number, 1), num_documents - 1)
    held_out = np.sort(rng.sample(range(num_documents), number))
    training = np.setdiff1d(np.arange(num_documents), held_out)
    return training.tolist(), held_out.tolist()


def write_plan(
    options: InstanceOptions,
    store: TokenStore,
    num_shards: int,
    duplication: int,
    documents: tuple[int, int],
    path: str,
) -> dict[str, int | list[int]]:
    """Plans the instances of one pass over a range of documents.

    Args:
        options: InstanceOptions.
        store: TokenStore.
        num_shards: number of shards to split the instances among.
        duplication: number of the pass.
        documents: (first, end).
        path: file for the rows, sorted by shard.

    Returns:
        dict: `num_instances`, `num_random_next`, `num_short`, and `shard_ends`,
        the rows up to each shard's end. Held-out documents form a shard after
        the last and are not counted.
    """
    training, held_out = split_documents(
        store.num_documents, options.eval_fraction, options.random_seed
    )
    is_held_out = set(held_out)
    all_shards = range(num_shards + bool(held_out))
    batches = [np.empty(0, ROW_TYPE)]
    for document in range(*documents):
        pool, shards = training, all_shards[:num_shards]
        if document in is_held_out:
            if duplication:
                continue
            pool, shards = held_out, all_shards[num_shards:]
        # Strings are hashed by SHA-512, so that similar keys give unrelated
        # draws.
        rng = random.Random(f"{options.random_seed}/{duplication}/{document}")
        planned = plan_document(options, store, document, pool, shards, rng)
        while batch := list(itertools.islice(planned, 4096)):
            batches.append(np.array(batch, ROW_TYPE))
            store.release()
    rows = np.concatenate(batches)
    rows = rows[np.argsort(rows["shard"], kind="stable")]
    with atomic_open(path) as file:
        file.write(rows.tobytes())
    ends = np.searchsorted(rows["shard"], all_shards, "right").tolist()
    counted = rows[: ends[num_shards - 1]]
    return {
        "num_instances": len(counted),
        "num_random_next": int(counted["is_random_next"].sum()),
        "num_short": int(counted["is_short"].sum()),
        "shard_ends": ends,
    }


def read_plan(
    path: str, shard_ends: Sequence[int] | np.ndarray, shard: int
) -> np.ndarray:
    """Returns the rows of one shard, from a file of `write_plan`."""
    first = shard_ends[shard - 1] if shard else 0
    return np.fromfile(
        path,
        ROW_TYPE,
        shard_ends[shard] - first,
        offset=first * ROW_TYPE.itemsize,
    )


def plan_document(
    options: InstanceOptions,
    store: TokenStore,
    document: int,
    pool: Sequence[int],
    shards: Sequence[int],
    rng: random.Random,
) -> Iterator[tuple]:
    """Plans the instances of one pass over one document.

    Args:
        options: InstanceOptions.
        store: TokenStore.
        document: the document's number.
        pool: numbers of the documents that random next sentences come from.
        shards: numbers of shards, one of them drawn for each instance.
        rng: random.Random.

    Yields:
        tuples of ROW_TYPE.
    """
    max_num_tokens = options.max_seq_length - 3
    target_length = max_num_tokens
    is_short = rng.random() < options.short_seq_prob
    if is_short:
        target_length = rng.randint(2, max_num_tokens)
    offsets = store.offsets(*store.sentences(document))
    num_sentences = len(offsets) - 1
    first = 0
    while first < num_sentences:
        # The sentences first..end-1 are the chunk.
        end = bisect.bisect_left(
            offsets, offsets[first] + target_length, first + 1, num_sentences
        )
        a_end = first + 1
        if end - first >= 2:
            a_end = first + rng.randint(1, end - first - 1)
        a_start, a_length = offsets[first], offsets[a_end] - offsets[first]
        is_random_next = end - first == 1 or rng.random() < 0.5
        if is_random_next:
            b_start, b_length = _draw_stretch(
                store, document, pool, target_length - a_length, rng
            )
            first = a_end
        else:
            b_start, b_length = offsets[a_end], offsets[end] - offsets[a_end]
            first = end
        yield (
            *_truncate(
                a_start, b_start, a_length, b_length, max_num_tokens, rng
            ),
            is_random_next,
            is_short,
            shards[rng.randrange(len(shards))],
        )


def _draw_stretch(
    store: TokenStore,
    document: int,
    pool: Sequence[int],
    target_length: int,
    rng: random.Random,
) -> tuple[int, int]:
    """Returns (start, length) of sentences from another document."""
    for _ in range(10):
        drawn = pool[rng.randrange(len(pool))]
        if drawn != document:
            break
    first, end = store.sentences(drawn)
    first = rng.randrange(first, end)
    # A sentence has at least one WordPiece.
    end = min(end, first + max(target_length, 1))
    offsets = store.offsets(first, end)
    index = bisect.bisect_left(
        offsets, offsets[0] + target_length, 1, len(offsets) - 1
    )
    return offsets[0], offsets[index] - offsets[0]


def _truncate(
    a_start: int,
    b_start: int,
    a_length: int,
    b_length: int,
    max_num_tokens: int,
    rng: random.Random,
) -> tuple[int, int, int, int]:
    """Shortens two spans as `instances.truncate_seq_pair` does.

    The number dropped from the front is binomial, as with fair coins.
    """
    a_kept = min(
        a_length, max(max_num_tokens - b_length, (max_num_tokens + 1) // 2)
    )
    b_kept = min(b_length, max_num_tokens - a_kept)
    if a_kept < a_length:
        a_start += rng.getrandbits(a_length - a_kept).bit_count()
    if b_kept < b_length:
        b_start += rng.getrandbits(b_length - b_kept).bit_count()
    return a_start, b_start, a_kept, b_kept
