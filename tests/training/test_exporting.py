"""Exports of a run, which begin with checks before it trains."""

import pytest

from tests.support import toy_task


class OwnHead(toy_task.BertClassifier):
    """A model of a user's task, with a class of its own."""


class OwnTask(toy_task.ToyTask):
    """Trains a model that `serving.export` does not know."""

    def create_model(self, config, **options):
        return OwnHead(config, 2, **options)


def test_a_class_without_signatures_is_refused_before_the_training(tmp_path):
    flags = {"max_seq_length": OwnTask.max_seq_length, "do_train": True}
    folder = tmp_path / "run"
    options = toy_task.create_run(
        tmp_path, export_dir=str(tmp_path / "export"), **flags
    )
    with pytest.raises(ValueError, match=r"export.*OwnHead.*kinds\.py"):
        toy_task.run(OwnTask(), options)
    assert not [*folder.glob("model.ckpt*")]
    options = toy_task.create_run(tmp_path, **flags)
    toy_task.run(OwnTask(), options)
    assert [*folder.glob("model.ckpt*")]
