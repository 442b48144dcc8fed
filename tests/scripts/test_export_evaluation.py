"""Each export is scored on the dev set before it replaces an older one."""

import random

import pytest
import tensorflow as tf

from modeling.checkpoints import tf1
from tests import checkpoints, script_runner
from tests.script_runner import parse_flags, read_results, snapshot

pytestmark = pytest.mark.slow

COLORS = ("red", "blue")


@pytest.fixture(scope="module")
def flags(tmp_path_factory, tiny):
    """Flags of a classifier that knows all answers, but cannot be in int8.

    One row of its word embeddings is so large that int8 has no steps left for
    the others; the texts have no such word.
    """
    pytest.importorskip(
        "ai_edge_litert", reason="needs requirements/litert.txt"
    )
    folder = tmp_path_factory.mktemp("boats")
    rng = random.Random(1)
    for name, count in (("train", 64), ("dev", 40)):
        rows = (rng.choice(COLORS) for _ in range(count))
        lines = [f"the {label} boat\t{label}\n" for label in rows]
        (folder / f"{name}.tsv").write_text("text\tlabel\n" + "".join(lines))
    flags = parse_flags(f"""
        --task_name=csv --data_dir={folder} --output_dir={folder}/run
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={script_runner.SAMPLES}/vocab.txt --max_seq_length=16
    """)
    script_runner.run(
        "run_classifier.py",
        folder,
        **flags,
        **parse_flags("""
            --do_train --train_batch_size=8 --learning_rate=2e-3
            --num_train_epochs=8 --export_weights=model
        """),
    ).check()
    prefix = str(folder / "model/bert_model.ckpt")
    weights = checkpoints.values(prefix)
    weights["bert/embeddings/word_embeddings"][-1] = 1e4
    tf1.write_checkpoint(
        prefix, {name: tf.Variable(value) for name, value in weights.items()}
    )
    return flags | {"init_checkpoint": folder / "model", "output_dir": "run"}


def export(folder, flags, more):
    return script_runner.run(
        "run_classifier.py",
        folder,
        **flags,
        **parse_flags(f"--export_dir=made/export {more}"),
    )


def test_a_worse_export_replaces_nothing(flags, tmp_path):
    made = tmp_path / "made"
    export(tmp_path, flags, "--do_eval --export_format=litert").check()
    assert read_results(tmp_path / "run")["f1_macro"] == 1
    scores = read_results(tmp_path / "run", "export_eval_results.txt")
    assert scores["litert_f1_macro"] == 1
    card = (made / "export/README.md").read_text()
    assert str(tmp_path) not in card and str(flags["data_dir"]) not in card
    before = snapshot(made / "export")
    done = export(tmp_path, flags, "--do_eval --quantize=int8")
    results = read_results(tmp_path / "run", "export_eval_results.txt")
    score = results["litert_f1_macro"]
    assert score < 0.9
    assert f"litert file scores f1_macro = {score:.4f}" in done.error
    assert "--max_export_loss" in done.error
    assert snapshot(made / "export") == before
    assert [path.name for path in made.iterdir()] == ["export"]
    export(
        tmp_path, flags, "--do_eval --quantize=int8 --max_export_loss=100"
    ).check()
    path = made / "export/model.tflite"
    assert path.stat().st_size < len(before[path][1])


def test_without_a_dev_set_nothing_is_checked(flags, tmp_path):
    done = export(tmp_path, flags, "--quantize=int8").check()
    assert done.stderr.count("The export is not checked") == 1
    assert (tmp_path / "made/export/model.tflite").is_file()
