"""The report of a corpus, which warns of likely mistakes."""

import re
from collections import Counter

import pytest

from data.pretraining import corpus_checks
from tests.support.log_lines import logged_warnings
from tests.support.shards import create_shards


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
    create_shards(tmp_path, text)
    assert any(message.startswith("corpus: ") for message in caplog.messages)
    assert any(re.search(warning, line) for line in logged_warnings(caplog))


# The counts of a corpus in which nothing is unusual.
USUAL = {
    "num_documents": 2,
    "num_sentences": 6,
    "num_tokens": 100,
    "num_unknown": 1,
    "num_dropped_bytes": 0,
}


@pytest.mark.parametrize("line", ["</doc>", '<doc id="1">', '{"text": "a"}'])
def test_tags_and_objects_are_not_sentences(line):
    assert corpus_checks.guess_markup(line)


@pytest.mark.parametrize("line", ["", "<b>Harbor</b>", "{curly}", "The <doc>"])
def test_other_lines_with_marks_may_be_sentences(line):
    assert corpus_checks.guess_markup(line) is None


def test_a_usual_corpus_is_counted_without_a_warning(caplog):
    caplog.set_level("INFO")
    corpus_checks.check_and_log_counts(Counter(USUAL), ["a.txt"])
    assert caplog.messages == [
        "corpus: 2 documents, 6 sentences, 100 WordPieces, 1.00% [UNK]"
    ]


def test_input_without_text_is_named():
    with pytest.raises(ValueError, match=r"no text in the input: a\.txt, b"):
        corpus_checks.check_and_log_counts(Counter(), ["a.txt", "b.txt"])
