"""Checks of what was loaded of a checkpoint."""

import pytest

import modeling
from modeling.checkpoints.variables import check_loaded
from tests.support.log_lines import logged_warnings
from tests.support.models import built, tiny_config
from tests.support.weights.huggingface_files import HEAD, change_weights


@pytest.fixture
def tagger(tmp_path):
    """The folder of a model of four tags."""
    model = built(modeling.BertTokenClassifier(tiny_config(), 4))
    modeling.save_huggingface(model, tmp_path / "tagger")
    return tmp_path / "tagger"


def load_tagger(folder):
    """Loads a tagger as a command that does not train."""
    model = modeling.BertTokenClassifier(tiny_config(), 4)
    check_loaded(modeling.load_checkpoint(model, folder))


def test_weights_that_are_all_loaded_cause_no_warning(tagger, caplog):
    load_tagger(tagger)
    assert not logged_warnings(caplog)


def test_weights_that_are_left_over_are_warned_of(tagger, caplog):
    change_weights(tagger, {"dense.weight": (16, 16)})
    load_tagger(tagger)
    assert "dense.weight" in caplog.text


def test_a_head_under_another_name_is_refused(tagger):
    """Other programs' heads do not become random outputs."""
    change_weights(tagger, {"model.score.weight": (4, 16)}, removed=HEAD)
    with pytest.raises(ValueError, match=r"model\.score\.weight"):
        load_tagger(tagger)
