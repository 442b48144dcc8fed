"""The entries of the files that a job writes about itself."""

from data.parallel_jobs.job_files import Manifest, UnitResult
from files.typed_dict_checks import find_malformed_entry

SHARD = {"path": "out", "num_records": 2, "bytes": 9, "crc32c": "e3069283"}
INPUT = {"path": "corpus.txt", "bytes": 3, "crc32c": "00000000"}


def test_a_manifest_describes_the_job_and_its_shards():
    manifest = {"version": 1, "flags": {}, "inputs": [INPUT], "shards": [SHARD]}
    assert find_malformed_entry(manifest, Manifest) is None
    assert find_malformed_entry(manifest | {"inputs": [{}]}, Manifest)


def test_a_unit_may_list_errors():
    result = {"shards": [SHARD], "counts": {"num_rows": 2}}
    assert find_malformed_entry(result, UnitResult) is None
    result["errors"] = ["line 3: the text is empty"]
    assert find_malformed_entry(result, UnitResult) is None
