"""Which export of a folder is opened, by serving/engines/opening.py."""

import serving


def test_the_newest_of_numbered_versions_is_asked(tmp_path, export_folder):
    # Links, as a copy of each takes long; the others cannot be loaded.
    for name in ("2", "9", "latest", "11x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"damaged")
    (tmp_path / "10").symlink_to(export_folder / "features")
    # One that is still being copied.
    (tmp_path / "12").mkdir()
    assert serving.load(tmp_path).tasks[0] == "embed"
