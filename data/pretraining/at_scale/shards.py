"""Turns plans into shards: TFRecord files of shuffled instances."""

from collections.abc import Mapping

import numpy as np

from data.io import records
from data.pretraining.at_scale import masking
from data.pretraining.at_scale.token_store import TokenStore
from data.pretraining.options import InstanceOptions

# Instances per batch: enough to gain from arrays, little memory.
_BATCH = 1024


def write_shard(
    options: InstanceOptions,
    store: TokenStore,
    vocab: Mapping[str, int],
    rows: np.ndarray,
    shard: int,
    path: str,
) -> dict[str, int]:
    """Writes the instances of a shard, shuffled.

    Args:
        options: InstanceOptions.
        store: TokenStore.
        vocab: dict of WordPiece to id.
        rows: array of instance_plan.ROW_TYPE, in an order that depends on
            nothing but the input and the options.
        shard: number of the shard; with the seed it keys the draws.
        path: the file to write.

    Returns:
        dict of the sums `num_records`, `num_pieces` (special ones too),
        `num_padded` (pieces short of max_seq_length), and without dynamic
        masking `num_masked`, `num_as_mask` and `num_kept`.
    """
    # Generators take no negative seeds.
    rng = np.random.default_rng([options.random_seed & (1 << 64) - 1, shard])
    rows = rows[rng.permutation(len(rows))]
    totals = {"num_records": len(rows), "num_pieces": 0, "num_padded": 0}
    if not options.dynamic_masking:
        totals |= {"num_masked": 0, "num_as_mask": 0, "num_kept": 0}
    with records.RecordWriter([path]) as writer:
        for start in range(0, len(rows), _BATCH):
            features = create_features(
                options, store, vocab, rows[start : start + _BATCH], rng
            )
            for record in records.encode_examples(features):
                writer.write(record)
            _count(features, vocab["[MASK]"], totals)
            store.release()
    return totals


def create_features(
    options: InstanceOptions,
    store: TokenStore,
    vocab: Mapping[str, int],
    rows: np.ndarray,
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    """Creates the features of instances.

    Args:
        options: InstanceOptions.
        store: TokenStore.
        vocab: dict of WordPiece to id.
        rows: array [n] of instance_plan.ROW_TYPE.
        rng: np.random.Generator.

    Returns:
        dict of name to array [n, length]; those of the masks are left out
        where `options.dynamic_masking`.
    """
    a_length = rows["a_length"].astype(np.int64)[:, None]
    b_length = rows["b_length"].astype(np.int64)[:, None]
    lengths = a_length + b_length + 3
    columns = np.arange(options.max_seq_length)[None]
    # [CLS] A [SEP] B [SEP] padding
    is_a = (columns >= 1) & (columns <= a_length)
    is_b = (columns >= a_length + 2) & (columns < lengths - 1)
    sources = np.where(
        is_a,
        rows["a_start"][:, None] + columns - 1,
        rows["b_start"][:, None] + columns - a_length - 2,
    )
    is_text = is_a | is_b
    codes = store.tokens[np.where(is_text, sources, 0)]
    top_bit = codes.dtype.type(1 << (8 * codes.dtype.itemsize - 1))
    input_ids = np.where(is_text, codes & (top_bit - 1), 0).astype(np.int32)
    input_ids[:, 0] = vocab["[CLS]"]
    is_sep = (columns == a_length + 1) | (columns == lengths - 1)
    input_ids[is_sep] = vocab["[SEP]"]
    features: dict[str, np.ndarray] = {
        "input_ids": input_ids,
        "input_mask": (columns < lengths).astype(np.uint8),
        "segment_ids": ((columns >= a_length + 2) & (columns < lengths)).astype(
            np.uint8
        ),
    }
    if not options.dynamic_masking:
        begins_word = (codes & top_bit) == 0
        # The rest of a word at the start of a span counts as a word.
        begins_word |= (columns == 1) | (columns == a_length + 2)
        features |= masking.mask_instances(
            input_ids,
            is_text,
            begins_word,
            lengths[:, 0],
            options,
            vocab,
            rng,
        )
    features["next_sentence_labels"] = rows["is_random_next"][:, None].astype(
        np.uint8
    )
    return features


def _count(
    features: dict[str, np.ndarray], mask_id: int, totals: dict[str, int]
) -> None:
    """Adds the manifest's counts of the instances to `totals`."""
    num_pieces = int(features["input_mask"].sum())
    totals["num_pieces"] += num_pieces
    totals["num_padded"] += features["input_mask"].size - num_pieces
    if "masked_lm_ids" not in features:
        return
    weights = features["masked_lm_weights"] > 0
    positions = features["masked_lm_positions"]
    found = np.take_along_axis(features["input_ids"], positions, axis=1)
    totals["num_masked"] += int(weights.sum())
    totals["num_as_mask"] += int(((found == mask_id) & weights).sum())
    totals["num_kept"] += int(
        ((found == features["masked_lm_ids"]) & weights).sum()
    )
