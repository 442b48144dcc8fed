"""The report of a corpus, which warns of likely mistakes."""

import re

import pytest

from tests.support.shards import create_shards, logged_warnings


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
