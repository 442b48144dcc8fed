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


FRACTION = 0.2
# Flags of jobs that hold out the same documents.
JOBS = {
    "plain": {},
    "dynamic": {"dynamic_masking": True, "num_shards": 5},
    "repeated": {"dupe_factor": 5},
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus of 20 documents, and the words that tell them apart."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    return path, write_documents(path, 20, 12)


@pytest.fixture(scope="module")
def manifests(corpus, tmp_path_factory):
    """{name of a job: its manifest}."""
    folder = tmp_path_factory.mktemp("jobs")
    return {
        name: create_shards(
            folder / name,
            [corpus[0]],
            eval_fraction=FRACTION,
            **KEPT,
            **flags,
        )
        for name, flags in JOBS.items()
    }


def read_training_words(manifest, name):
    """Returns the ids in the training records of a job."""
    spec = None
    if name == "dynamic":
        spec = feature_specs.unmasked_pretraining_spec(64)
    return {*read_shards(manifest, spec)["input_ids"].ravel()}


def test_without_a_fraction_every_document_is_for_training(corpus, tmp_path):
    path, words = corpus
    manifest = create_shards(tmp_path, [path], **KEPT)
    assert "eval_shards" not in manifest
    assert words < {*read_shards(manifest)["input_ids"].ravel()}


@pytest.mark.parametrize("name", JOBS)
def test_each_document_is_for_training_or_for_evaluation(
    name, corpus, manifests
):
    _, words = corpus
    training = words & read_training_words(manifests[name], name)
    assert len(training) == 15
    held_out = read_shards({"shards": manifests[name]["eval_shards"]})
    assert words & {*held_out["input_ids"].ravel()} == words - training


@pytest.mark.parametrize("name", JOBS)
def test_the_records_for_evaluation_are_masked_pairs(name, manifests):
    held_out = read_shards({"shards": manifests[name]["eval_shards"]})
    assert held_out["masked_lm_weights"].sum() > 0
    assert {*held_out["next_sentence_labels"].ravel()} == {0, 1}


@pytest.mark.parametrize("name", JOBS)
def test_the_manifest_counts_the_records_of_both_sets(name, manifests):
    manifest = manifests[name]
    (entry,) = manifest["eval_shards"]
    assert entry["path"].endswith(f"/{name}/eval-out")
    held_out = read_shards({"shards": [entry]})
    assert entry["num_records"] == len(held_out["input_ids"])
    num_training = sum(shard["num_records"] for shard in manifest["shards"])
    assert manifest["corpus"]["num_instances"] == num_training


def test_shards_passes_and_masking_do_not_change_the_set(manifests):
    checksums = [
        read_checksums({"shards": manifest["eval_shards"]})
        for manifest in manifests.values()
    ]
    assert checksums == [checksums[0]] * len(JOBS)


def test_one_document_cannot_be_held_out(tmp_path):
    text = "One sentence.\nAnd another.\n"
    with pytest.raises(ValueError, match="holds out none of the 1 documents"):
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
    with pytest.raises(ValueError, match=r"replace .*eval-out, .* input"):
        create_shards(tmp_path, eval_fraction=0.1, **flags)
    assert path.read_text() == text
    assert set(os.listdir(tmp_path)) <= {"eval-out", "link"}
