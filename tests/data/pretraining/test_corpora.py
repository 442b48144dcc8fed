"""The report of a corpus, and where random next sentences come from."""

import re

import pytest

from data.io import feature_specs
from tests.support.shards import create, read, warnings, write_documents


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("One.\nTwo.\nThree.\n", "one document"),
        ("One two.\n\nThree four.\n\nFive.\n", "no next sentence"),
        ("\u1200\u1201 \u1202\n\u1203\n\n\u1204\nabc\n", "are \\[UNK\\]"),
        (
            '<doc id="0" url="u" title="Old > Lamp">\nOld Lamp\n\n'
            "The lamp is old.\nIt burns.\n\n</doc>\n",
            "2 lines of the input are <doc> tags.* sed -E",
        ),
        (
            '{"id": "0", "text": "One.\\nTwo."}\n{"text": "Three."}\n\nFour.\n',
            "2 lines of the input are JSON.* jq -r",
        ),
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


def test_random_next_of_a_long_document_is_of_the_part_before(
    tmp_path, small_parts
):
    path = tmp_path / "corpus.txt"
    words = write_documents(path, 5, 60)
    options = {"dupe_factor": 40, "dynamic_masking": True, "num_shards": 1}
    manifest = create(tmp_path, [path], **options)
    features = read(manifest, feature_specs.unmasked_features(64))
    found = {0: set(), 1: set()}
    for ids, segments, label in zip(
        features["input_ids"],
        features["segment_ids"],
        features["next_sentence_labels"],
        strict=True,
    ):
        (first,), (second,) = (
            words & set(ids[segments == number]) for number in (0, 1)
        )
        found[label[0]].add((first, second))
    assert found[0] == {(word, word) for word in words}
    # Each part is one document. Only the first part has no part before it.
    others = {pair for pair in found[1] if pair[0] != pair[1]}
    assert len(others) == 4 and len(found[1] - others) == 1
