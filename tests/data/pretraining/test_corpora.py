"""The report of a corpus, and which documents lend random next sentences."""

import re

import pytest

from data.io import feature_specs
from data.pretraining import documents, splitting
from tests.shards import create, digests, read, warnings, write_documents


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("One.\nTwo.\nThree.\n", "one document"),
        ("One two.\n\nThree four.\n\nFive.\n", "no next sentence"),
        ("\u1200\u1201 \u1202\n\u1203\n\n\u1204\nabc\n", "are \\[UNK\\]"),
        (b"Bad \xff\xfe one.\nTwo.\n\nThree.\nFour.\n", "2 bytes"),
    ],
)
def test_report_warns_of_what_usually_goes_wrong(
    tmp_path, text, warning, caplog
):
    caplog.set_level("INFO")
    create(tmp_path, text)
    assert any(x.startswith("corpus: ") for x in caplog.messages)
    assert any(re.search(warning, line) for line in warnings(caplog))


def test_random_next_of_a_long_document_is_of_another(tmp_path, small_parts):
    path = tmp_path / "corpus.txt"
    words = write_documents(path, 5, 60)
    made = [
        create(
            tmp_path / str(number),
            [path],
            number,
            num_shards=0,
            dupe_factor=40,
            dynamic_masking=True,
        )
        for number in (1, 2)
    ]
    assert digests(made[0]) == digests(made[1])
    features = read(made[0], feature_specs.unmasked_features(64))
    # Each part is one document.
    assert len(made[0]["shards"]) == 5
    kinds = {0: set(), 1: set()}
    for ids, segments, label in zip(
        features["input_ids"],
        features["segment_ids"],
        features["next_sentence_labels"],
        strict=True,
    ):
        (first,), (second,) = (
            words & set(ids[segments == number]) for number in (0, 1)
        )
        assert (first != second) == label[0]
        kinds[label[0]].add((first, second))
    assert len(kinds[0]) == 5
    # All pairs of two documents.
    assert len(kinds[1]) == 20


def test_lenders_have_no_text_of_the_document():
    def find(*are_cut):
        blocks = [[documents.Block("a", is_cut=is_cut)] for is_cut in are_cut]
        found = splitting.find_lenders(blocks)
        return [[number for number, _ in lenders] for lenders in found]

    assert find(False) == [[]]
    assert find(True, False) == [[], []]
    assert find(False, True, True, False) == [[1, 2, 3], [0], [0], [0]]
    assert find(*[False] * 8)[2] == [0, 3, 4, 6]


def test_one_document(tmp_path, monkeypatch, caplog):
    """In parts of its lines; random next sentences are from the part itself."""
    monkeypatch.setattr(splitting, "_PART_BYTES", 100)
    monkeypatch.setattr(splitting, "_MAX_SEARCH", 20)
    text = "The old harbor.\nThe keeper.\nA light.\n" * 20
    manifest = create(tmp_path, text)
    assert set(read(manifest)["next_sentence_labels"].ravel()) == {0, 1}
    assert manifest["corpus"]["num_documents"] == 1
    assert any("one document" in line for line in warnings(caplog))
