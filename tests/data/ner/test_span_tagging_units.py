"""Spans that count other units than characters, and right spans in words."""

import json
import re

import pytest

from tests.support.tagged_words import read_annotated_texts

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1f3\U0001f1f4"
THUMB = "\U0001f44d\U0001f3fd"


def graphemes(text):
    for sign in (FAMILY, FLAG, THUMB):
        text = text.replace(sign, "x")
    return len(text)


UNITS = {
    "graphemes": graphemes,
    "bytes": lambda text: len(text.encode()),
    "UTF-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "CR LF as one": lambda text: len(text.replace("\r\n", "\n")),
    "words": lambda text: len(text.split()),
}
TEXTS = {
    "graphemes": [
        f"{FAMILY} <Anna> met <Berg> in spring",
        f"We and {FAMILY}{FAMILY}: <Nils> left <Oslo> today",
        f"{THUMB} {FLAG} the boat of <Maria> is near <Bergen> now",
    ],
    "bytes": [
        "<Anna> l\u00e4uft \u00fcber Br\u00fccken nach <K\u00f6ln> und <Mainz>",
        "\u00dcberall \u00f6ffnet <Nils> T\u00fcren in <Oslo> f\u00fcr alle",
        "\u041c\u043e\u0441\u0442\u044b \u0438 <\u0410\u043d\u043d\u0430>",
    ],
    "UTF-16": [
        "\U0001f600 <Anna> met <Berg> in spring",
        "We \U0001f600\U0001f680: <Nils> left <Oslo> today",
        "\U0001f600\U0001f600\U0001f600 boat of <Maria> near <Bergen> now",
    ],
    "CR LF as one": [
        "To all\r\n\r\nthe boat of <Maria>\r\nis near <Bergen> now",
        "One\r\ntwo\r\nthree <Anna> and <Nils> left",
    ],
    "words": ["We saw <Anna> in <Oslo> today", "The boat of <Maria> left"],
}


def write_marked_texts(folder, texts, unit=len):
    """Writes texts whose spans are in < and >."""
    rows = []
    for marked in texts:
        text = re.sub("[<>]", "", marked)
        entities = []
        for count, match in enumerate(re.finditer("<(.*?)>", marked)):
            start = match.start() - 2 * count
            end = start + len(match[1])
            position = unit(text[:start])
            entities.append(
                [position, position + max(unit(text[start:end]), 1), "X"]
            )
        rows.append({"text": text, "entities": entities})
    path = folder / "train.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize("unit", UNITS)
def test_spans_in_another_unit_are_refused(tmp_path, unit):
    path = write_marked_texts(tmp_path, TEXTS[unit])
    examples = read_annotated_texts(path, "train")
    assert len(examples) == len(TEXTS[unit])
    path = write_marked_texts(tmp_path, TEXTS[unit], UNITS[unit])
    with pytest.raises(ValueError, match=r"line \d: the span"):
        read_annotated_texts(path, "train")


@pytest.mark.parametrize(
    "texts",
    [
        # Parts of words in ASCII.
        ["<Anna>'s boat", "Franco-<German>", "non-<cell>-like", "U.S.-<based>"],
        ["user=<anna>;", "ip=<1.2.3.4>;", "a/<b>/c", "x_<name>_y"],
        # Endings, and articles that are written as a part of the word.
        [
            "<\uc11c\uc6b8>\uc5d0\uc11c \uc654\ub2e4",
            "<\ubd80\uc0b0>\uc740 \ud56d\uad6c",
        ]
        * 3,
        [
            "\u05d1<\u05d7\u05d9\u05e4\u05d4> \u05e2\u05db\u05e9\u05d9\u05d5",
            "\u05dc<\u05e2\u05db\u05d5>",
        ]
        * 3,
        ["<\u0130stanbul>'da", "<Ankara>'n\u0131n \u00fcst\u00fc"] * 3,
        # Languages without spaces.
        [
            "\u738b<\u5c0f\u660e>\u5728\u4e0a\u6d77",
            "\u79c1\u306f<\u30c8\u30e8\u30bf>\u306b\u884c\u304f",
        ],
        [
            "\u306f<\u30c8\u30e8\u30bf>\u306b",
            "\u0e09\u0e31\u0e19<\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e>\u0e41\u0e25\u0e30",
        ],
        # Emoji beside names.
        ["\U0001f600<Anna>\U0001f600 left", "in <Oslo>\U0001f389\U0001f389"],
    ],
)
def test_right_spans_in_words_are_widened(tmp_path, texts, caplog):
    caplog.set_level("INFO")
    assert len(
        read_annotated_texts(write_marked_texts(tmp_path, texts), "train")
    ) == len(texts)


def test_a_few_wrong_spans_are_widened(tmp_path, caplog):
    caplog.set_level("INFO")
    texts = ["<Anna> l\u00e4uft", "d<e>r B<e>rg", "<Nils> \u00f6ffnet <Oslo>"]
    path = write_marked_texts(tmp_path, texts)
    assert len(read_annotated_texts(path, "train")) == 3
    assert "widened 2 of 5 spans" in caplog.text


def test_spans_of_odd_places_are_read_if_they_repeat_their_text(tmp_path):
    entities = [{"start": 1, "end": 3, "label": "X", "text": "nn"}]
    row = json.dumps({"text": "Anna l\u00e4uft", "entities": entities})
    path = tmp_path / "train.jsonl"
    path.write_text(f"{row}\n" * 4)
    assert len(read_annotated_texts(path, "train")) == 4
