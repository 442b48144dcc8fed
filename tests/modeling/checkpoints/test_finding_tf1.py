"""The TF1 checkpoint that a path or a folder means."""

import pytest

from modeling import check_checkpoint, find_checkpoint, save_checkpoint
from modeling.bert import BertModel
from tests.support.checkpoints import DAMAGES_OF_SIZE, damage_checkpoint
from tests.support.models import SMALL, built


@pytest.fixture(scope="module")
def encoder():
    """A small encoder."""
    return built(BertModel(SMALL))


def test_a_folder_without_a_checkpoint_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="must contain exactly one"):
        find_checkpoint(tmp_path)


def test_a_folder_means_its_checkpoint(encoder, tmp_path):
    save_checkpoint(encoder, tmp_path / "a.ckpt")
    # As macOS adds it, which is no checkpoint.
    (tmp_path / "._a.ckpt.index").write_bytes(b"\0\5\x16\7")
    (tmp_path / "saved_model.pb").touch()
    assert find_checkpoint(tmp_path) == str(tmp_path / "a.ckpt")


@pytest.fixture
def two_checkpoints(encoder, tmp_path):
    """A folder of two checkpoints, without a file that chooses."""
    save_checkpoint(encoder, tmp_path / "a.ckpt")
    save_checkpoint(encoder, tmp_path / "b.ckpt")
    (tmp_path / "checkpoint").unlink(missing_ok=True)
    return tmp_path


def test_two_checkpoints_of_a_folder_are_named(two_checkpoints):
    with pytest.raises(FileNotFoundError, match=r"a\.ckpt, .*b\.ckpt"):
        find_checkpoint(two_checkpoints)


@pytest.mark.parametrize("state", [b"", b"\xff\xfem", b"hello"])
def test_a_damaged_state_file_does_not_choose_a_checkpoint(
    two_checkpoints, state
):
    (two_checkpoints / "checkpoint").write_bytes(state)
    with pytest.raises(FileNotFoundError, match=r"a\.ckpt, .*b\.ckpt"):
        find_checkpoint(two_checkpoints)


def test_the_state_of_a_folder_chooses_its_checkpoint(two_checkpoints):
    state = 'model_checkpoint_path: "a.ckpt"\n'
    (two_checkpoints / "checkpoint").write_text(state)
    path = find_checkpoint(two_checkpoints)
    assert path == str(two_checkpoints / "a.ckpt")


@pytest.mark.parametrize(
    "former", ["/home/someone/run/", "gone/", "C:\\\\runs\\\\", "{elsewhere}/"]
)
def test_a_folder_that_was_moved_means_its_own_checkpoint(
    encoder, tmp_path, former
):
    elsewhere = tmp_path / "elsewhere"
    for folder in (tmp_path / "run", elsewhere):
        save_checkpoint(encoder, folder / "model.ckpt-5")
        save_checkpoint(encoder, folder / "model.ckpt-20")
    former = former.format(elsewhere=elsewhere)
    (tmp_path / "run/checkpoint").write_text(
        f'model_checkpoint_path: "{former}model.ckpt-20"\n'
    )
    path = find_checkpoint(tmp_path / "run")
    assert path == str(tmp_path / "run/model.ckpt-20")


@pytest.mark.parametrize("damage", DAMAGES_OF_SIZE)
def test_a_truncated_checkpoint_is_not_found(encoder, tmp_path, damage):
    prefix = tmp_path / "bert_model.ckpt"
    save_checkpoint(encoder, prefix)
    damage_checkpoint(prefix, damage)
    with pytest.raises(OSError, match=f"{prefix} cannot be read"):
        check_checkpoint(prefix)
