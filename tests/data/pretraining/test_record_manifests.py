"""The entries of the manifest beside pretraining records."""

from data.pretraining.record_manifests import RecordManifest
from files.typed_dict_checks import find_malformed_entry

SHARD = {"path": "out", "num_records": 2, "bytes": 9, "crc32c": "e3069283"}
MANIFEST = {
    "version": 1,
    "flags": {},
    "inputs": [],
    "shards": [SHARD],
    "corpus": {"num_documents": 1},
}


def test_only_some_manifests_list_documents_that_are_held_out():
    held_out = {"eval_shards": [SHARD]}
    assert find_malformed_entry(MANIFEST, RecordManifest) is None
    assert find_malformed_entry(MANIFEST | held_out, RecordManifest) is None


def test_a_manifest_with_a_malformed_entry_is_not_one_of_records():
    damaged = MANIFEST | {"eval_shards": [5]}
    assert find_malformed_entry(damaged, RecordManifest) == "eval_shards"
    without_counts = {key: MANIFEST[key] for key in MANIFEST if key != "corpus"}
    assert find_malformed_entry(without_counts, RecordManifest) == "corpus"
