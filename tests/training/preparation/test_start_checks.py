"""What is checked of the flags and the folders before any slow work."""

import pytest

from tests.support.models import SMALL
from tests.support.tasks.toy_task import create_config, create_starting_point
from training.preparation import start_checks


def check_start(folder, **flags):
    """Checks the files of a new run, whose network has 8 positions."""
    flags = {"max_seq_length": 8, "do_train": True} | flags
    config = create_config(folder, **flags)
    start_checks.check_start(create_starting_point(config, SMALL))


def test_a_new_run_may_write_new_folders(tmp_path):
    check_start(
        tmp_path / "run",
        export_dir=str(tmp_path / "export"),
        export_weights=str(tmp_path / "weights"),
    )


@pytest.mark.parametrize("flag", ["export_dir", "export_weights"])
def test_a_folder_of_the_user_is_not_replaced(tmp_path, flag):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    flags = {flag: str(tmp_path / "mine")}
    with pytest.raises(ValueError, match=f"--{flag}="):
        check_start(tmp_path / "run", **flags)


@pytest.mark.parametrize("flag", ["max_seq_length", "export_seq_length"])
def test_a_length_that_the_network_has_not_is_refused(tmp_path, flag):
    flags = {flag: 9}
    with pytest.raises(ValueError, match=f"--{flag}=9 is more than .* 8 pos"):
        check_start(tmp_path / "run", **flags)
