"""Weights that are not read: one line says what they are, and what to do."""

import json
import shutil

import pytest

import modeling
from model_folders.reading.preset import read_preset
from tests.support.checkpoints import convert
from tests.support.paths import ROOT
from tests.support.tasks import toy_task
from tests.support.weights import weights_fuzz
from tests.support.weights.huggingface_files import CONFIG, change_weights
from training.loop import teacher_loading

RECORDED = ROOT / "tests/testdata/huggingface/BertModel"


def load_teacher(folder):
    """Loads a folder as --teacher does."""
    config = toy_task.create_config(
        "unused", do_train=True, teacher=str(folder)
    )
    starting_point = toy_task.create_starting_point(
        config, modeling.BertConfig(**SIZES)
    )
    return teacher_loading.load_teacher(starting_point, modeling.BertModel)


# A student with the vocabulary of the recorded model.
SIZES = {"vocab_size": CONFIG["vocab_size"]}


OPENERS = [
    modeling.check_checkpoint,
    modeling.BertModel.from_preset,
    load_teacher,
]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("flax_model.msgpack", "is weights of Flax. Convert them"),
        ("flax_model.msgpack.index.json", "is weights of Flax. Convert them"),
        ("global_step500/mp_rank_00_model_states.pt", "of DeepSpeed. Merge"),
        ("zero_pp_rank_0_mp_rank_00_optim_states.pt", "of DeepSpeed. Merge"),
        ("model.pt", "of torch .* Save the state_dict"),
        ("epoch=3-step=40.ckpt", "of torch .* Save the state_dict"),
        ("model.bin", "of torch .* Save the state_dict"),
    ],
)
@pytest.mark.parametrize("has_config", [False, True])
@pytest.mark.parametrize("names_the_file", [False, True])
@pytest.mark.parametrize("open_weights", OPENERS)
def test_weights_of_another_library_are_named(
    tmp_path, name, says, has_config, names_the_file, open_weights
):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    if has_config:
        (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    with pytest.raises(ValueError, match=says) as caught:
        open_weights(file if names_the_file else tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("open_weights", OPENERS)
def test_weights_of_another_library_are_named_by_the_folder_of_a_step(
    tmp_path, open_weights
):
    folder = tmp_path / "global_step500"
    folder.mkdir()
    (folder / "mp_rank_00_model_states.pt").touch()
    with pytest.raises(ValueError, match=f"{folder}.* of DeepSpeed"):
        open_weights(folder)


def test_readable_weights_beside_others_are_read(tmp_path):
    folder = shutil.copytree(RECORDED, tmp_path / "model")
    (folder / "flax_model.msgpack").touch()
    (folder / "optimizer.pt").touch()
    assert modeling.BertModel.from_preset(folder).built


def convert_beside(folder):
    """Converts the model of a folder into another one."""
    convert(folder, folder.parent / "new")


@pytest.mark.parametrize(
    "load",
    [
        modeling.BertModel.from_preset,
        convert_beside,
        load_teacher,
        *weights_fuzz.LOADERS,
    ],
)
def test_another_architecture_is_refused_by_every_function(tmp_path, load):
    folder = shutil.copytree(RECORDED, tmp_path / "model")
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG | {"model_type": "roberta"}))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"]
    (folder / "vocab.txt").write_text("\n".join(words))
    says = r"config.json: `model_type` is 'roberta'"
    with pytest.raises(ValueError, match=says):
        load(folder)


def test_an_export_says_whose_weights_they_are(tmp_path):
    (tmp_path / "flax_model.msgpack").touch()
    with pytest.raises(ValueError, match="is weights of Flax"):
        weights_fuzz.LOADERS[1](tmp_path)


@pytest.mark.parametrize(
    "head", [("out.weight", "out.bias"), ("mlp.0.weight", "mlp.2.weight")]
)
@pytest.mark.parametrize(
    "load", [modeling.BertClassifier.from_preset, weights_fuzz.LOADERS[1]]
)
def test_a_head_under_other_names_is_named(tmp_path, head, load):
    recorded = RECORDED.with_name("BertForSequenceClassification")
    folder = shutil.copytree(recorded, tmp_path / "model")
    removed = ["classifier.weight", "classifier.bias"]
    change_weights(folder, dict.fromkeys(head, (2, 8)), removed)
    first, second = sorted(head)
    says = rf"model.safetensors contains no head .*{first}.*{second}"
    with pytest.raises(ValueError, match=says):
        load(folder)


PLACES = [
    "huggingface/BertModel",
    "weights/transformers4/cls",
    "weights/modelgarden/v1_items",
    "weights/kerashub/classifier",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("entry", "value"),
    [("num_hidden_layers", 1_000_000), ("vocab_size", 2_000_000_000)],
)
def test_sizes_are_compared_before_a_model_is_created(place, entry, value):
    folder = ROOT / "tests/testdata" / place
    config = modeling.load_config(folder)
    changed = modeling.BertConfig.from_dict(config.to_dict() | {entry: value})
    says = rf"{folder}/.*{entry}={value}"
    with pytest.raises(ValueError, match=says) as caught:
        modeling.BertModel.from_preset(folder, config=changed)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", PLACES)
def test_a_preset_is_found_only_for_its_own_sizes(place):
    folder = ROOT / "tests/testdata" / place
    config = modeling.load_config(folder)
    preset = read_preset(folder)
    modeling.check_checkpoint(preset, config=config)
    sizes = config.to_dict() | {"vocab_size": 2_000_000_000}
    changed = modeling.BertConfig.from_dict(sizes)
    with pytest.raises(ValueError, match="vocab_size=2000000000"):
        modeling.check_checkpoint(preset, config=changed)


@pytest.mark.parametrize("load", weights_fuzz.LOADERS)
def test_every_function_names_a_configuration_that_does_not_fit(tmp_path, load):
    folder = tmp_path / "models"
    folder.mkdir()
    weights_fuzz.create_folders(folder)
    file = folder / "theirs/config.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps(values | {"num_hidden_layers": 1_000_000}))
    says = rf"num_hidden_layers=1000000, .* in {file}"
    with pytest.raises(ValueError, match=says):
        load(file.parent)
