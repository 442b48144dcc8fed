"""TF1 checkpoints that are saved: their files, and the bits in them."""

import resource

import pytest

from modeling import (
    BertClassifier,
    BertModel,
    BertPretrainer,
    load_checkpoint,
    load_config,
    save_checkpoint,
    save_release,
)
from tests.support import golden
from tests.support.checkpoints import (
    assert_same_bits,
    list_weights,
    read_checkpoint,
)
from tests.support.model_cases import assert_close
from tests.support.models import SMALL, built


@pytest.mark.parametrize(
    "index", golden.path_params("models/*/bert_model.ckpt.index")
)
def test_a_saved_checkpoint_has_the_same_bits(index, tmp_path):
    prefix = str(index).removesuffix(".index")
    config = load_config(index.parent)
    model = BertPretrainer(config)
    report = load_checkpoint(model, prefix)
    assert not report.missing
    names = list_weights(prefix)
    assert set(report.loaded) | set(report.unused) == names.keys()
    before = read_checkpoint(prefix)

    path = tmp_path / "new" / "copy.ckpt"
    save_checkpoint(model, path)
    assert_same_bits(
        read_checkpoint(path), {name: before[name] for name in report.loaded}
    )
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "copy.ckpt.data-00000-of-00001",
        "copy.ckpt.index",
    ]
    save_checkpoint(model, path)  # Replaces what is there.
    load_checkpoint(BertPretrainer(config), path)


@pytest.mark.parametrize("save", [save_checkpoint, save_release])
def test_a_model_can_be_saved_before_its_first_call(save, tmp_path):
    model = BertClassifier(SMALL, num_labels=2)
    save(model, tmp_path / "model")
    copy = BertClassifier(SMALL, num_labels=2)
    load_checkpoint(copy, tmp_path / "model")
    assert_close(copy.weights, model.get_weights(), 0)


def test_a_save_removes_only_its_own_files_in_a_folder_like_a_pattern(tmp_path):
    model = built(BertModel(SMALL))
    folder = tmp_path / "run[1]*"
    save_checkpoint(model, folder / "model.ckpt")
    assert len(list(folder.iterdir())) == 2
    # A file that `run[1]*` matches if it is read as a pattern.
    left = tmp_path / "run1" / "model.ckpt.partial.index"
    left.parent.mkdir()
    left.write_text("another's")
    # A folder in the way fails the renaming, once the files are written.
    (folder / "other.ckpt.data-00000-of-00001" / "in").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"other\.ckpt\.data-"):
        save_checkpoint(model, folder / "other.ckpt")
    assert len(list(folder.iterdir())) == 3
    assert left.exists()


def test_a_full_disk_is_named_without_the_operation(tmp_path):
    model = built(BertModel(SMALL))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large$") as caught:
            save_checkpoint(model, tmp_path / "model.ckpt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "function_node" not in str(caught.value)
    assert not [*tmp_path.iterdir()]
