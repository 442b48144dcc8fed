"""Weights that are not read: one line says what they are, and what to do."""

import json
import shutil

import pytest

import modeling
from command_line.flags import Parsed
from tests.support.golden import ROOT
from tests.support.huggingface_files import CONFIG
from tools import convert_checkpoint

RECORDED = ROOT / "tests/testdata/huggingface/BertModel"


@pytest.mark.parametrize(
    "name, says",
    [
        ("flax_model.msgpack", "is weights of Flax. Convert them"),
        ("flax_model.msgpack.index.json", "is weights of Flax. Convert them"),
        ("global_step500/mp_rank_00_model_states.pt", "of DeepSpeed. Merge"),
        ("zero_pp_rank_0_mp_rank_00_optim_states.pt", "of DeepSpeed. Merge"),
        ("model.pt", "of torch .* Save the state_dict"),
    ],
)
@pytest.mark.parametrize("has_config", [False, True])
def test_other_libraries(tmp_path, name, says, has_config):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    if has_config:
        (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for path in (tmp_path, file.parent, file):
        for open_weights in (
            modeling.find_checkpoint,
            modeling.BertModel.from_preset,
        ):
            with pytest.raises(ValueError, match=says) as caught:
                open_weights(path)
            assert "\n" not in str(caught.value)
            assert str(tmp_path) in str(caught.value)


def test_readable_weights_beside_others_are_read(tmp_path):
    folder = shutil.copytree(RECORDED, tmp_path / "model")
    (folder / "flax_model.msgpack").touch()
    (folder / "optimizer.pt").touch()
    assert modeling.BertModel.from_preset(folder).built


def test_another_architecture(tmp_path):
    folder = shutil.copytree(RECORDED, tmp_path / "model")
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG | {"model_type": "roberta"}))
    says = r"config.json: `model_type` is 'roberta', .* another network"
    with pytest.raises(ValueError, match=says):
        modeling.BertModel.from_preset(folder)
    given = {"init_checkpoint": str(folder), "output_dir": f"{tmp_path}/new"}
    parsed = Parsed(convert_checkpoint.Config(**given), frozenset(given))
    with pytest.raises(ValueError, match=says):
        convert_checkpoint.main(parsed)
