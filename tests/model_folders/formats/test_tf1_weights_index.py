"""Indexes of checkpoints with entries at which TensorFlow ends the process."""

import re
import shutil

import pytest

from model_folders.formats.tf1_weights import check_index
from modeling import check_checkpoint
from tests.support.paths import ROOT

RECORDED = ROOT / "tests/testdata/weights/modelgarden/v1_items"
INDEXES = sorted(ROOT.glob("tests/testdata/**/*.index"))


def crc32c(data):
    """Returns the checksum of a block, as LevelDB stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    crc = (crc >> 15 | crc << 17) + 0xA282EAD8
    return (crc & 0xFFFFFFFF).to_bytes(4, "little")


def first_block(data):
    """Returns the end of the first block of an index of few blocks."""
    for end in range(1, len(data) - 4):
        # The type of a block, 0, precedes its checksum.
        may_end = data[end] == 0 and data[end - 3 : end] == bytes(3)
        if may_end and crc32c(data[: end + 1]) == data[end + 1 : end + 5]:
            return end
    raise AssertionError


@pytest.fixture
def change_index(tmp_path):
    """Replaces bytes of an index, whose checksum stays valid."""
    folder = shutil.copytree(RECORDED, tmp_path / "model")
    index = folder / "bert_model.ckpt-1.index"

    def change_index(pattern, replacement):
        data = index.read_bytes()
        end = first_block(data)
        block, count = re.subn(pattern, replacement, data[:end], count=1)
        assert count == 1
        assert len(block) == end
        checksum = crc32c(block + b"\0")
        index.write_bytes(block + b"\0" + checksum + data[end + 5 :])
        return folder

    return change_index


def test_indexes_of_tensorflow_pass():
    assert INDEXES
    for index in INDEXES:
        check_index(str(index))


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        # An entry that begins with the type, float, and the size of the shape.
        (rb"\x08\x01\x12\x08", b"\xff\xff\xff\xff"),
        (rb"\x08\x01\x12\x08", b"\x08\x63\x12\x08"),
        # A dimension of 32, and one of less than 0.
        (
            rb"\x12\x02\x08\x20\x12\x02\x08\x20",
            b"\x12\x06\x08\xff\xff\xff\xff\x7f",
        ),
    ],
)
def test_a_malformed_entry_is_an_error_of_one_line(
    change_index, pattern, replacement
):
    folder = change_index(pattern, replacement)
    says = rf"{folder}/bert_model.ckpt-1 cannot be read: .*malformed"
    with pytest.raises(OSError, match=says) as caught:
        check_checkpoint(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"text" * 99, INDEXES[0].read_bytes()[-48:]]
)
def test_check_index_refuses_a_file_that_is_not_an_index(tmp_path, content):
    file = tmp_path / "x.index"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="index"):
        check_index(str(file))
