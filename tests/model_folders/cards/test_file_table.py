"""The table of files in a card: which rows it has, and their sizes."""

from model_folders.cards import file_table


def test_the_files_of_the_checkpoints_are_a_row(tmp_path):
    for step in (5, 7):
        (tmp_path / f"model.ckpt-{step}.index").write_bytes(b"1" * 100_000)
        data = tmp_path / f"model.ckpt-{step}.data-00000-of-00001"
        data.write_bytes(b"1" * 900_000)
    sizes = file_table.file_sizes(tmp_path)
    assert [*file_table.list_file_rows(sizes)] == [
        (
            ["model.ckpt-5.*", "model.ckpt-7.*"],
            "the weights of the last steps",
            2.0,
        )
    ]


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path):
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"12345")
    (tmp_path / "notes").write_bytes(b"1")
    sizes = file_table.file_sizes(tmp_path)
    assert sizes == {"notes": 1, "onnx": 5}
    # The table says nothing of a file that the project did not write.
    [(files, _, _)] = file_table.list_file_rows(sizes)
    assert files == ["onnx"]
