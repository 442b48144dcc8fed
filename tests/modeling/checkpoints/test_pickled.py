"""Weights that torch wrote with pickle, read without torch."""

import json
import os
import pickle
import shutil
import struct
import zipfile

import numpy as np
import pytest
import safetensors.numpy

from modeling import BertModel, find_checkpoint, load_checkpoint, load_config
from modeling.checkpoints.huggingface.pickled import PickledTensors
from tests.golden import ROOT
from tests.modeling.kinds import assert_close

RECORDED = ROOT / "tests/testdata/huggingface"
PICKLED = RECORDED / "pickled"
FORMS = ["pytorch_model.bin", "pytorch_model.before_1_6.bin"]


def expected():
    file = RECORDED / "BertModel/model.safetensors"
    return safetensors.numpy.load_file(file)


def write_pickle(path, pickled, values=b""):
    """Writes a file as torch.save does, with another pickle and one storage."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", values)


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_with_only_torchs_weights_loads(tmp_path, form):
    shutil.copy(RECORDED / "BertModel/config.json", tmp_path)
    shutil.copy(PICKLED / form, tmp_path / "pytorch_model.bin")
    model, same = (BertModel(load_config(tmp_path)) for _ in range(2))
    report = load_checkpoint(model, tmp_path)
    assert not report.missing and not report.unused
    path = str(tmp_path / "pytorch_model.bin")
    assert find_checkpoint(tmp_path) == find_checkpoint(path) == path
    load_checkpoint(same, RECORDED / "BertModel")
    assert_close(model.weights, same.weights, 0)


@pytest.mark.parametrize("form", FORMS)
def test_tensors_have_their_values_and_types(form):
    file = PickledTensors(PICKLED / form)
    for name, value in expected().items():
        np.testing.assert_array_equal(file.get_tensor(name), value)
        assert file.get_slice(name).get_shape() == list(value.shape)
        assert file.get_slice(name).get_dtype() == "F32"
    assert file.get_slice("embeddings.position_ids").get_dtype() == "I64"


def pickled(text):
    return b"X" + struct.pack("<i", len(text)) + text.encode()


# A tuple of twice the same tuple of twice the same tuple, and so on.
ENDLESS = b")" + 60 * b"q\x00h\x00\x86"


# The name of a function.
CALL = b"\x80\x02ctorch._utils\n_rebuild_tensor\n"
PARAMETER = CALL.replace(b"tensor", b"parameter")


class Malicious:
    """Runs a command when Python unpickles it."""

    def __init__(self, call, *arguments):
        self.call = call, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("is_zip", [True, False])
def test_a_pickle_that_would_run_code_is_refused(tmp_path, protocol, is_zip):
    for call in (
        Malicious(os.system, f"touch {tmp_path}/harm"),
        Malicious(eval, f"open('{tmp_path}/harm', 'w')"),
        Malicious(open, f"{tmp_path}/harm", "w"),
    ):
        path = tmp_path / "pytorch_model.bin"
        pickled = pickle.dumps({"pooler.dense.weight": call}, protocol)
        if is_zip:
            write_pickle(path, pickled)
        else:
            path.write_bytes(pickled)
        with pytest.raises(OSError, match="pytorch_model.bin cannot be read: "):
            find_checkpoint(path)
    assert os.listdir(tmp_path) == ["pytorch_model.bin"]


@pytest.mark.parametrize(
    "contents, message",
    [
        (pickle.dumps({"a": os.system}, 2), "asks for posix.system, which is"),
        (pickle.dumps({"a": os.system}, 4), "asks for posix.system, which is"),
        # An instance of a class, by its own instruction.
        (b"\x80\x02(i__main__\nA\n.", "instruction INST"),
        (
            pickle.dumps({"a": 1}, 2),
            "must map names to tensors. Received the key: 'a'",
        ),
        (pickle.dumps([1], 2), "no dictionary of tensors"),
        (b"\x80\x02ctorch\nFloatStorage\n)R.", "FloatStorage"),
        (b"\x80\x02}K\x01K\x02e.", "file is damaged, or"),
        (b"\x80\x02}", "file is damaged, or"),
        (b"", "file is damaged, or"),
        # A storage whose type is a text.
        (b"\x80\x02(" + 3 * pickled("storage") + b"NK\x01tQ.", "refers to"),
        # To hash or to print the tuple would take for ever.
        (b"\x80\x02}" + ENDLESS + b"K\x01s.", "one tuple in several"),
        (PARAMETER + ENDLESS + b"\x85R.", "one tuple in several"),
        (PARAMETER + b")\x85R.", "a parameter must be a tensor"),
        (CALL + b"(" + ENDLESS + b"K\x00))tR.", "one tuple in several"),
        # Attributes of the name of a function, and a new instance of it.
        (CALL + b"N}" + pickled("name") + pickled("a") + b"s\x86b.", "damaged"),
        # As many numbered objects as fill the memory.
        (b"\x80\x02}r\xff\xff\xff\xff.", "instruction LONG_BINPUT"),
    ],
)
def test_anything_but_tensors_is_refused(tmp_path, contents, message):
    write_pickle(tmp_path / "pytorch_model.bin", contents)
    with pytest.raises(OSError, match=message):
        find_checkpoint(tmp_path)


def describe(size, offset=0, shape=(2, 3), strides=(3, 1), kind="FloatStorage"):
    """Returns a pickle of one tensor in a storage of `size` numbers."""

    def integers(*values):
        body = b"".join(b"J" + struct.pack("<i", value) for value in values)
        return b"(" + body + b"t"

    return (
        b"\x80\x02}X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n(("
        b"X\x07\x00\x00\x00storagectorch\n" + kind.encode() + b"\n"
        b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuJ"
        + struct.pack("<i", size)
        + b"tQ"
        + integers(offset)[1:-1]
        + integers(*shape)
        + integers(*strides)
        + b"\x89}tRs."
    )


@pytest.mark.parametrize(
    "wrong",
    [
        dict(size=5),
        dict(size=7),
        dict(size=6, offset=1),
        dict(size=6, offset=-1),
        dict(size=6, strides=(3, 2)),
        dict(size=6, strides=(-3, 1)),
        dict(size=6, shape=(2,)),
        dict(size=6, kind="QInt8Storage"),
    ],
)
def test_a_tensor_outside_its_storage_is_refused(tmp_path, wrong):
    path, values = tmp_path / "pytorch_model.bin", np.arange(6, dtype="f4")
    write_pickle(path, describe(size=6), values)
    found = PickledTensors(path).get_tensor("a")
    np.testing.assert_array_equal(found, [[0, 1, 2], [3, 4, 5]])
    write_pickle(path, describe(**wrong), values)
    with pytest.raises(OSError, match="file is damaged, or"):
        PickledTensors(path)


def test_an_archive_of_other_files_is_refused(tmp_path):
    path = tmp_path / "pytorch_model.bin"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/model.json", "{}")
    with pytest.raises(OSError, match="torch.save did not write"):
        find_checkpoint(tmp_path)
    # Marked as encrypted, for which Python raises a RuntimeError.
    write_pickle(path, pickle.dumps({}))
    contents = bytearray(path.read_bytes())
    for header, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        contents[contents.index(header) + flags] |= 1
    path.write_bytes(contents)
    with pytest.raises(OSError, match="encrypted"):
        find_checkpoint(tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_is_named(tmp_path, form):
    path = tmp_path / "pytorch_model.bin"
    whole = (PICKLED / form).read_bytes()
    for contents in (whole[:-1000], whole[:3000], whole[:5], b"no pickle", b""):
        path.write_bytes(contents)
        with pytest.raises(OSError, match=f"{path} cannot be read"):
            find_checkpoint(tmp_path)


def test_torchs_weights_in_several_files(tmp_path):
    names = sorted(expected())
    places = {}
    for number, form in enumerate(FORMS):
        place = f"pytorch_model-{number + 1:05}-of-00002.bin"
        shutil.copy(PICKLED / form, tmp_path / place)
        places |= dict.fromkeys(names[number::2], place)
    index = tmp_path / "pytorch_model.bin.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    shutil.copy(RECORDED / "BertModel/config.json", tmp_path)
    report = load_checkpoint(BertModel(load_config(tmp_path)), tmp_path)
    assert not report.missing and report.path == str(index)
    with pytest.raises(ValueError, match="contain pytorch_model.bin.ind"):
        find_checkpoint(tmp_path / place)
