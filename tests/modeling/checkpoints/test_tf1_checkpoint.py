"""TF1 checkpoints: Google's format and names, in and out."""

import resource
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf

from data.text import FullTokenizer
from modeling import (
    BertClassifier,
    BertConfig,
    BertModel,
    BertPretrainer,
    BertSpanLabeler,
    find_checkpoint,
    load_checkpoint,
    load_config,
    read_shapes,
    save_checkpoint,
    save_huggingface,
    save_kerashub,
    save_release,
)
from modeling.checkpoints.tf1_checkpoint import write_checkpoint
from modeling.checkpoints.variables import google_name_of
from tests.support import golden
from tests.support.checkpoints import (
    assert_same_bits,
    list_weights,
    read_checkpoint,
)
from tests.support.model_cases import assert_close
from tests.support.models import SMALL, built
from tests.support.paths import ROOT

CHECKPOINTS = golden.paths("models/*/bert_model.ckpt.index")


def prefix_of(index):
    return str(index).removesuffix(".index")


@pytest.fixture
def source():
    """A whole checkpoint and its configuration."""
    path = CHECKPOINTS[-1].values[0]
    return prefix_of(path), load_config(path.parent)


def check_refused(model, path, message):
    """Checks that loading fails, and that nothing is assigned."""
    before = model.get_weights()
    with pytest.raises(ValueError, match=message):
        load_checkpoint(model, path)
    assert_close(model.weights, before, 0)


@pytest.mark.parametrize("index", CHECKPOINTS)
def test_a_saved_checkpoint_has_the_same_bits(index, tmp_path):
    config = load_config(index.parent)
    model = BertPretrainer(config)
    report = load_checkpoint(model, prefix_of(index))
    assert not report.missing
    names = list_weights(prefix_of(index))
    assert set(report.loaded) | set(report.unused) == names.keys()
    before = read_checkpoint(prefix_of(index))

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


def test_names_and_shapes_are_those_of_googles_release():
    """Of this release there is only the index, with names and shapes."""
    folder = golden.shared("data/checkpoints/chinese_index")
    model = built(BertPretrainer(load_config(folder)))
    shapes = {
        google_name_of(weight): list(weight.shape) for weight in model.weights
    }
    assert shapes == list_weights(folder / "bert_model.ckpt")


def test_a_checkpoint_of_another_implementation_is_loaded():
    folder = golden.shared("data/checkpoints/keras_bert_test")
    path = str(folder / "bert_model.ckpt")
    model = BertPretrainer(load_config(folder))
    report = load_checkpoint(model, path)
    assert not report.missing
    assert not report.unused  # Adam's slots and the step do not count.
    before = read_checkpoint(path)
    expected = [before[google_name_of(weight)] for weight in model.weights]
    assert_close(model.weights, expected, 0)


def test_a_save_removes_only_its_own_files_in_a_folder_like_a_pattern(tmp_path):
    model = built(BertModel(SMALL))
    folder = tmp_path / "run[1]*"
    save_checkpoint(model, folder / "model.ckpt")
    assert len(list(folder.iterdir())) == 2
    # What a pattern would find in its stead.
    left = tmp_path / "run1" / "model.ckpt.partial.index"
    left.parent.mkdir()
    left.write_text("another's")
    # A folder in the way fails the renaming, once the files are written.
    (folder / "other.ckpt.data-00000-of-00001" / "in").mkdir(parents=True)
    with pytest.raises(IsADirectoryError, match=r"other\.ckpt\.data-"):
        save_checkpoint(model, folder / "other.ckpt")
    assert len(list(folder.iterdir())) == 3
    assert left.exists()


def test_a_head_that_the_checkpoint_lacks_keeps_its_initial_weights(source):
    path, config = source
    report = load_checkpoint(BertClassifier(config, 3), path)
    assert report.path == path
    assert sorted(report.missing) == ["output_bias", "output_weights"]
    assert "cls/predictions/output_bias" in report.unused


def test_loaded_variables_are_logged_as_by_googles_code(source, caplog):
    path, config = source
    with caplog.at_level("DEBUG", logger="absl"):
        load_checkpoint(BertClassifier(config, 3), path)
    line = "name = bert/pooler/dense/bias, shape = (32,), *INIT_FROM_CKPT*"
    assert line in caplog.text


def test_a_saved_classifier_is_loaded_with_its_head(source, tmp_path):
    path, config = source
    model = BertClassifier(config, 3, name="my_classifier")
    load_checkpoint(model, path)
    save_checkpoint(model, tmp_path / "model.ckpt")
    other = BertClassifier(config, 3)
    assert not load_checkpoint(other, tmp_path / "model.ckpt").missing
    assert_close(model.weights, other.weights, 0)


def test_weights_of_every_model_have_googles_names(source):
    path, config = source
    backbone = {name for name in list_weights(path) if name.startswith("bert/")}
    for model, head in (
        (BertModel(config), set()),
        (BertModel(config, name="encoder"), set()),
        (BertClassifier(config, 2), {"output_weights", "output_bias"}),
        (
            BertSpanLabeler(config, name="bert"),
            {"cls/squad/output_weights", "cls/squad/output_bias"},
        ),
        (
            BertPretrainer(config, name="cls"),
            {name for name in list_weights(path) if name.startswith("cls/")},
        ),
    ):
        model.build()
        names = {google_name_of(weight) for weight in model.weights}
        assert names == backbone | head


def test_a_users_model_around_bert_loads_the_weights_of_bert(source):
    path, config = source
    bert = BertModel(config)
    input_ids = keras.Input((8,), dtype="int32")
    pooled = bert(input_ids)["pooled_output"]
    model = keras.Model(input_ids, keras.layers.Dense(2, name="mine")(pooled))
    report = load_checkpoint(model, path)
    assert report.missing == ["mine/kernel", "mine/bias"]
    expected = tf.train.load_variable(path, "bert/pooler/dense/kernel")
    np.testing.assert_array_equal(bert.pooler.kernel, expected)


@pytest.fixture
def small_encoder():
    """A small encoder."""
    return built(BertModel(SMALL))


def test_a_directory_without_a_checkpoint_is_named(small_encoder, tmp_path):
    with pytest.raises(FileNotFoundError, match="must contain exactly one"):
        load_checkpoint(small_encoder, tmp_path)


def test_a_directory_means_its_checkpoint(small_encoder, tmp_path):
    save_checkpoint(small_encoder, tmp_path / "a.ckpt")
    # As macOS adds it, which is no checkpoint.
    (tmp_path / "._a.ckpt.index").write_bytes(b"\0\5\x16\7")
    (tmp_path / "saved_model.pb").touch()
    assert load_checkpoint(small_encoder, tmp_path).path == str(
        tmp_path / "a.ckpt"
    )


@pytest.fixture
def two_checkpoints(small_encoder, tmp_path):
    """A folder of two checkpoints, without a file that chooses."""
    save_checkpoint(small_encoder, tmp_path / "a.ckpt")
    save_checkpoint(small_encoder, tmp_path / "b.ckpt")
    (tmp_path / "checkpoint").unlink(missing_ok=True)
    return tmp_path


def test_two_checkpoints_of_a_directory_are_named(
    small_encoder, two_checkpoints
):
    with pytest.raises(FileNotFoundError, match=r"a\.ckpt, .*b\.ckpt"):
        load_checkpoint(small_encoder, two_checkpoints)


@pytest.mark.parametrize("state", [b"", b"\xff\xfem", b"hello"])
def test_a_damaged_state_file_does_not_choose_a_checkpoint(
    small_encoder, two_checkpoints, state
):
    (two_checkpoints / "checkpoint").write_bytes(state)
    with pytest.raises(FileNotFoundError, match=r"a\.ckpt, .*b\.ckpt"):
        load_checkpoint(small_encoder, two_checkpoints)


def test_the_state_of_a_directory_chooses_its_checkpoint(
    small_encoder, two_checkpoints
):
    state = 'model_checkpoint_path: "a.ckpt"\n'
    (two_checkpoints / "checkpoint").write_text(state)
    path = load_checkpoint(small_encoder, two_checkpoints).path
    assert path == str(two_checkpoints / "a.ckpt")


@pytest.mark.parametrize(
    "former", ["/home/someone/run/", "gone/", "C:\\\\runs\\\\", "{elsewhere}/"]
)
def test_a_folder_that_was_moved_means_its_own_checkpoint(tmp_path, former):
    elsewhere = tmp_path / "elsewhere"
    model = built(BertModel(SMALL))
    for folder in (tmp_path / "run", elsewhere):
        save_checkpoint(model, folder / "model.ckpt-5")
        save_checkpoint(model, folder / "model.ckpt-20")
    former = former.format(elsewhere=elsewhere)
    (tmp_path / "run/checkpoint").write_text(
        f'model_checkpoint_path: "{former}model.ckpt-20"\n'
    )
    path = find_checkpoint(tmp_path / "run")
    assert path == str(tmp_path / "run/model.ckpt-20")


def test_names_behind_one_prefix_are_read(tmp_path):
    model = built(BertModel(SMALL))
    names = {google_name_of(weight): weight for weight in model.weights}
    path = tmp_path / "hub.ckpt"
    scoped = {f"module/{name}": weight for name, weight in names.items()}
    # Another variable with the name of one of them.
    outside = {"bert/pooler/dense/bias": keras.Variable([1.0])}
    write_checkpoint(path, scoped | outside)
    other = BertModel(SMALL)
    report = load_checkpoint(other, path)
    assert not report.missing
    assert not report.unused
    assert_close(other.weights, model.weights, 0)
    assert read_shapes(path).keys() == names.keys()


@pytest.fixture
def damage(source, tmp_path):
    """(kind of damage) -> the path of a checkpoint with this damage."""
    path, _ = source
    copy = tmp_path / "bert_model.ckpt"
    index, data = (
        tmp_path / f"{copy.name}{ending}"
        for ending in (".index", ".data-00000-of-00001")
    )

    def damage(kind):
        for file in (index, data):
            shutil.copy(path + file.name.removeprefix(copy.name), file)
        if kind == "no data":
            data.unlink()
        elif kind == "short data":
            data.write_bytes(data.read_bytes()[:5000])
        elif kind == "other data":
            data.write_bytes(bytes(data.stat().st_size))
        elif kind == "cut index":
            # The footer is whole, and what it points to is beyond the end.
            index.write_bytes(index.read_bytes()[-60:])
        else:
            index.write_bytes(b"short")
        return copy

    return damage


# Their sizes tell, before any work is done for them.
SHORT = ["no data", "short data", "short index", "cut index"]


@pytest.mark.parametrize("kind", [*SHORT, "other data"])
def test_a_damaged_checkpoint_is_not_loaded(source, damage, kind):
    _, config = source
    path = damage(kind)
    with pytest.raises(OSError, match=f"{path} cannot be read"):
        load_checkpoint(BertModel(config), path)


@pytest.mark.parametrize("kind", SHORT)
def test_a_truncated_checkpoint_is_not_found(damage, kind):
    path = damage(kind)
    with pytest.raises(OSError, match=f"{path} cannot be read"):
        find_checkpoint(path)


def test_another_size_is_named_and_nothing_is_assigned(source):
    path, config = source
    sizes = config.to_dict()
    for changes, message in (
        ({"vocab_size": 77}, "word_embeddings"),
        ({"max_position_embeddings": 128}, "position_embeddings"),
        ({"hidden_size": 64}, r"\[99, 32\].*\[99, 64\]"),
        ({"intermediate_size": 64}, "intermediate/dense/kernel"),
        ({"num_hidden_layers": 4}, "bert/encoder/layer_3/"),
    ):
        model = built(BertModel(BertConfig.from_dict({**sizes, **changes})))
        check_refused(model, path, message)


def test_two_berts_in_one_model_cannot_be_distinguished(source):
    input_ids = keras.Input((8,), dtype="int32")
    one = BertModel(SMALL, name="one")(input_ids)["pooled_output"]
    two = BertModel(SMALL, name="two")(input_ids)["pooled_output"]
    model = keras.Model(input_ids, one + two)
    with pytest.raises(ValueError, match="several BertModels"):
        load_checkpoint(model, source[0])


def test_a_full_disk_is_named_without_the_operation(source, tmp_path):
    model = built(BertModel(source[1]))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large$") as caught:
            save_checkpoint(model, tmp_path / "model.ckpt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "function_node" not in str(caught.value)
    assert not [*tmp_path.iterdir()]


def test_weights_of_another_type_are_refused(tmp_path):
    model = built(BertModel(SMALL))
    weights = {
        google_name_of(weight): np.asarray(weight) for weight in model.weights
    }
    path = tmp_path / "model.ckpt"
    for dtype in ("int32", "str"):
        wrong = np.zeros(4).astype(dtype)
        write_checkpoint(path, weights | {"bert/pooler/dense/bias": wrong})
        check_refused(model, path, "bert/pooler/dense/bias")


@pytest.mark.parametrize(
    "save", [save_checkpoint, save_huggingface, save_kerashub, save_release]
)
def test_a_model_can_be_saved_before_its_first_call(save, tmp_path):
    tokenizer = FullTokenizer(ROOT / "examples/samples/vocab.txt")
    config = BertConfig(
        vocab_size=len(tokenizer.tokens),
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=8,
        type_vocab_size=2,
    )
    model = BertClassifier(config, num_labels=2)
    options = {"tokenizer": tokenizer} if save is save_kerashub else {}
    save(model, tmp_path / "model", **options)
    copy = BertClassifier(config, num_labels=2)
    load_checkpoint(copy, tmp_path / "model")
    assert_close(copy.weights, model.get_weights(), 0)
