"""Scripts export the models they trained, and replace only older exports."""

import json
import os
import resource

import keras
import numpy as np
import pytest
import tensorflow as tf

from data.text import tokenization
from files import export_folders, manifests
from serving import engines
from serving.export import formats
from tests import script_runner
from tests.checkpoints import read_records, serve
from tests.script_runner import parse_flags

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def exported(tmp_path_factory, tiny, model_flags):
    """A folder with an export of each script that has not trained."""
    folder = tmp_path_factory.mktemp("exports")
    line = "Who sang in Ostrel? ||| On Thursday the singers sang for hours.\n"
    (folder / "lines.txt").write_text(line)
    commands = {
        "extract_features.py": """
            --input_file=lines.txt --output_file=features.jsonl --layers=-1
            --max_seq_length=40 --export_dir=encoder --export_version=12
        """,
        "run_pretraining.py": f"""
            --input_file={tiny}/train.tfrecord --output_dir=pretraining
            --max_seq_length=32 --max_predictions_per_seq=5
            --export_dir=pretrainer --export_version=1
        """,
        "run_squad.py": """
            --output_dir=squad --max_seq_length=64 --max_query_length=24
            --export_dir=span_labeler
        """,
    }
    commands = {x: model_flags | parse_flags(y) for x, y in commands.items()}
    del commands["run_pretraining.py"]["vocab_file"]
    for done in script_runner.run_all(
        [(script, folder, flags) for script, flags in commands.items()]
    ):
        done.check()
    # Versions are numbered folders and nothing else.
    assert os.listdir(folder / "encoder") == ["12"]
    assert os.listdir(folder / "pretrainer") == ["1"]
    return folder


def test_serves_what_the_script_predicts(classified, exported):
    folder, _ = classified
    inputs = read_records(folder / "run/predict.tf_record", [32])
    expected = np.loadtxt(folder / "run/test_results.tsv", delimiter="\t")
    found = serve(folder / "export", inputs)
    assert list(found) == ["probabilities"]
    assert_close(found["probabilities"], expected)
    lengths = inputs["input_mask"].sum(1)
    shortest = lengths.argsort()[:3]
    length = lengths[shortest].max()
    assert length < 32
    short = {name: value[shortest, :length] for name, value in inputs.items()}
    found = serve(folder / "export", short)
    assert_close(found["probabilities"], expected[shortest])

    line = json.loads((exported / "features.jsonl").read_text())
    values = [token["layers"][0]["values"] for token in line["features"]]
    tokens = [token["token"] for token in line["features"]]
    tokenizer = tokenization.FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    ids = tokenizer.convert_tokens_to_ids(tokens)
    pair = engines.Input(ids, tokens.index("[SEP]") + 1)
    one = engines.pack([pair], len(ids))
    found = serve(exported / "encoder/12", one)
    assert_close(found["sequence_output"], [values])
    assert found["pooled_output"].shape == (1, 32)

    length = len(ids)
    found = serve(exported / "pretrainer/1", one)
    masked = found["masked_lm_probabilities"]
    following = found["next_sentence_probabilities"]
    assert masked.shape == (1, length, 1600) and following.shape == (1, 2)
    assert_close(masked.sum(-1), np.ones([1, length]))
    assert_close(following.sum(-1), [1])

    card = (exported / "span_labeler/README.md").read_text()
    assert "finds the answer" in card and str(exported) not in card
    expected = serve(exported / "span_labeler", one)
    padding = [(0, 1), (0, 60 - length)]
    two = {name: np.pad(value, padding) for name, value in one.items()}
    found = serve(exported / "span_labeler", two)
    for name in ("start_logits", "end_logits"):
        assert found[name].shape == (2, 60)
        assert_close(found[name][:1, :length], expected[name])


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_vocabulary_and_labels_go_with_it(tiny, classified):
    folder, _ = classified
    extra = folder / "export" / "assets.extra"
    vocab = (folder / "words.txt").read_bytes()
    assert (extra / "vocab.txt").read_bytes() == vocab
    assert (extra / "labels.txt").read_text() == "0\n1\n"
    card = (folder / "export/README.md").read_text()
    assert "0. `0`\n1. `1`\n" in card and "Text: lower-cased" in card
    assert "| train_records | train.tf_record |" in card
    for path in (folder, tiny, script_runner.SAMPLES):
        assert str(path) not in card
    config = json.loads((extra / "bert_config.json").read_text())
    given = json.loads((tiny / "bert_config.json").read_text())
    assert config.items() >= given.items()
    assert not (folder / "export.unfinished").exists()


@pytest.fixture
def write():
    """Exports a model that doubles numbers, or another function."""
    layer = keras.layers.Dense(1)
    layer.build([None, 1])

    def double(value):
        return {"out": value * 2}

    def write(path, function=double, files=()):
        endpoint = (function, [tf.TensorSpec([None], tf.float32)])
        formats.export_saved_model(path, layer, {"serve": endpoint}, files)

    return write


def contents(folder):
    """Returns {path: bytes or None} of everything in a folder."""
    return {
        str(x.relative_to(folder)): x.read_bytes() if x.is_file() else None
        for x in folder.rglob("*")
    }


def test_a_failed_export_leaves_the_earlier_one(tmp_path, write):
    path = tmp_path / "made" / "export"

    def fail(value):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        write(path, fail)
    with pytest.raises(ValueError, match="surrogate"):
        write(path, files={"labels.txt": "\ud800"})
    assert list(path.parent.iterdir()) == []
    write(path, files={"labels.txt": "a\n"})
    before = contents(path)
    with pytest.raises(ValueError, match="surrogate"):
        write(path, files={"labels.txt": "\ud800"})
    assert contents(path) == before
    # The whole of it is replaced, and nothing is left beside.
    export_folders.check(path)
    write(path)
    assert not (path / "assets.extra" / "labels.txt").exists()
    assert list(path.parent.iterdir()) == [path]


def test_a_limit_on_the_size_of_files_leaves_the_earlier_export(
    tmp_path, write
):
    path = tmp_path / "export"
    write(path)
    before = contents(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(path) == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "name", ["notes.txt", "assets.extra/notes.txt", "variables/mine/", "link"]
)
def test_an_export_with_a_users_file_in_it_is_not_replaced(
    tmp_path, write, name
):
    path = tmp_path / "export"
    write(path)
    if name == "link":
        (path / name).symlink_to(tmp_path)
    elif name.endswith("/"):
        (path / name).mkdir()
    else:
        (path / name).write_text("mine")
    before = contents(path)
    for refused in (export_folders.check, write):
        with pytest.raises(ValueError, match="--export_dir"):
            refused(path)
    assert contents(path) == before
    assert list(tmp_path.iterdir()) == [path]


def test_only_an_export_is_replaced(tmp_path, write):
    made, plain, linked, empty = (
        tmp_path / name for name in ("made", "plain", "linked", "empty")
    )
    write(made)
    # As from before exports had a manifest, or from another program.
    (made / manifests.EXPORT).unlink()
    plain.mkdir()
    (plain / "saved_model.pb").write_text("x")
    for path in (made, plain, tmp_path):
        with pytest.raises(ValueError, match="--export_dir"):
            export_folders.check(path)
    linked.symlink_to(made)
    for path in (linked, plain / "saved_model.pb"):
        with pytest.raises(ValueError, match="--export_dir"):
            export_folders.check(path)
    (plain / manifests.EXPORT).write_text("[]")
    with pytest.raises(ValueError, match=manifests.EXPORT):
        export_folders.check(plain)
    (plain / manifests.EXPORT).write_text('{"files": 5}')
    with pytest.raises(ValueError, match="--export_dir"):
        export_folders.check(plain)
    empty.mkdir()
    write(empty)
    assert (empty / "saved_model.pb").is_file()


@pytest.mark.parametrize("is_export", [False, True])
@pytest.mark.parametrize("end", ["unfinished", "replaced"])
def test_a_users_file_next_to_an_export_is_left_alone(
    tmp_path, write, end, is_export
):
    path, aside = tmp_path / "export", tmp_path / f"export.{end}"
    if is_export:
        # An earlier one that was moved aside.
        write(aside)
    aside.mkdir(exist_ok=True)
    (aside / "notes.txt").write_text("mine")
    before = contents(tmp_path)
    for refused in (export_folders.check, write):
        with pytest.raises(ValueError, match=aside.name):
            refused(path)
    assert contents(tmp_path) == before


def test_what_a_kill_left_is_cleared_away(tmp_path, write):
    path, replaced, unfinished = (
        tmp_path / f"export{end}" for end in ("", ".replaced", ".unfinished")
    )
    write(path, files={"labels.txt": "earlier"})
    # Killed between the two renamings: the earlier export comes back, even
    # where the next one fails.
    write(unfinished)
    path.rename(replaced)
    with pytest.raises(ValueError, match="surrogate"):
        write(path, files={"labels.txt": "\ud800"})
    assert (path / "assets.extra" / "labels.txt").read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]
    # Killed while it was written, or while the earlier one was removed.
    unfinished.mkdir()
    (unfinished / manifests.EXPORT).write_text('{"files": []}')
    (unfinished / "variables").mkdir()
    replaced.mkdir()
    write(path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_export_leaves_nothing_under_its_name(
    tmp_path, classified, model_flags
):
    folder, _ = classified
    flags = model_flags | parse_flags(f"""
        --init_checkpoint={folder}/run/model.ckpt-8 --task_name=mrpc
        --data_dir={script_runner.SAMPLES}/glue --output_dir=run
        --max_seq_length=32 --export_dir=export
    """)
    is_writing = (tmp_path / "export.unfinished").exists
    done = script_runner.run(
        "run_classifier.py", tmp_path, kill_when=is_writing, **flags
    )
    assert done.status < 0
    assert not (tmp_path / "export").exists()
