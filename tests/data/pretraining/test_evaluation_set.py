"""Documents that are held out as an evaluation set."""

import os
from pathlib import Path

import pytest

from data.io import feature_specs
from tests.support.shards import (
    VOCAB,
    create_shards,
    read_checksums,
    read_shards,
    write_documents,
)

# What is chosen stays as it is, so that all words can be seen.
KEPT = {"mask_token_prob": 0.0, "same_token_prob": 1.0}


def test_documents_are_held_out_for_evaluation(tmp_path):
    path = tmp_path / "corpus.txt"
    words = write_documents(path, 20, 12)
    whole = create_shards(tmp_path / "whole", [path], **KEPT)
    assert "eval_shards" not in whole
    assert words < {*read_shards(whole)["input_ids"].ravel()}
    digests_of = {}
    for name, changed in (
        ("plain", {}),
        ("dynamic", {"dynamic_masking": True, "num_shards": 5}),
        ("repeated", {"dupe_factor": 5}),
    ):
        manifest = create_shards(
            tmp_path / name, [path], eval_fraction=0.2, **KEPT, **changed
        )
        (entry,) = manifest["eval_shards"]
        assert entry["path"] == str(tmp_path / name / "eval-out")
        spec = None
        if "dynamic_masking" in changed:
            spec = feature_specs.unmasked_features(64)
        training = words & {*read_shards(manifest, spec)["input_ids"].ravel()}
        held_out = read_shards({"shards": [entry]})
        assert held_out["masked_lm_weights"].sum() > 0
        assert len(held_out["input_ids"]) == entry["num_records"]
        assert set(held_out["next_sentence_labels"].ravel()) == {0, 1}
        assert words & {*held_out["input_ids"].ravel()} == words - training
        assert len(training) == 15
        digests_of[name] = read_checksums({"shards": [entry]})
        num_rows = sum(shard["num_records"] for shard in manifest["shards"])
        assert manifest["corpus"]["num_instances"] == num_rows
    # The same file for any number of shards, of passes and kind of masking.
    assert (
        digests_of["plain"] == digests_of["dynamic"] == digests_of["repeated"]
    )


def test_one_document_cannot_be_held_out(tmp_path):
    text = "One sentence.\nAnd another.\n"
    with pytest.raises(ValueError, match="--eval_fraction"):
        create_shards(tmp_path, text, eval_fraction=0.1)


@pytest.mark.parametrize("which", ["corpus", "vocabulary"])
def test_an_input_is_not_replaced_by_what_is_held_out(tmp_path, which):
    path = tmp_path / "eval-out"
    flags = {"input_files": [path]}
    if which == "vocabulary":
        flags = {"vocab_file": str(tmp_path / "link")}
        os.symlink("eval-out", tmp_path / "link")
    text = Path(VOCAB).read_text(encoding="utf-8")
    path.write_text(text)
    with pytest.raises(ValueError, match="eval-out"):
        create_shards(tmp_path, eval_fraction=0.1, **flags)
    assert path.read_text() == text
    assert set(os.listdir(tmp_path)) <= {"eval-out", "link"}
