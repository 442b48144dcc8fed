"""A user's mistakes get one line, a status, and nothing half-written.

Each mistake changes flags of a command that is well, and has the word of the
error that names the culprit. The readers' own tests have all that can be wrong
in a file.
"""

import itertools
import os
import shutil

import pytest
import tensorflow as tf

from data.io import tf_examples, tfrecord_files
from modeling.checkpoints import tf1_checkpoint
from tests.support import script_runner
from tests.support.models import write_config
from tests.support.paths import SAMPLES
from tests.support.script_runner import check_refusals
from tests.support.shards import create_header

HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
TEXTS = {
    "empty": "",
    "a.txt": "word\n",
    "no_mask.txt": lambda vocab: vocab.replace("[MASK]", "[NONE]"),
    "columns/train.tsv": f"{HEADER}1\t2\t3\tOne text.\n",
    "few/train.tsv": f"{HEADER}1\t2\t3\tA text.\tA text.\n",
    "ner/train.txt": "word\nword NN M-PER\n",
    "saved/saved_model.pb": "none",
    "model/vocab.txt": "model/vocab.txt",
    "model/bert_model.ckpt.index": "model/bert_model.ckpt.index",
}


@pytest.fixture(scope="module")
def wrong_files(tmp_path_factory, sample_records):
    """A folder of files that are wrong in all kinds of ways.

    No test changes it. A test works on its own copy, `files`.
    """
    folder = tmp_path_factory.mktemp("bad")
    vocab = (SAMPLES / "vocab.txt").read_text(encoding="utf-8")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        text = text if isinstance(text, str) else text(vocab)
        (folder / name).write_text(text, encoding="utf-8")
    os.symlink("a.txt", folder / "link.txt")
    shutil.copy(SAMPLES / "vocab.txt", folder)
    shutil.copy(SAMPLES / "corpus.txt", folder)
    shutil.copy(SAMPLES / "topics/dev.csv", folder / "topics.csv")
    write_config(folder / "fewer_words.json", vocab_size=100)
    whole = sample_records.read_bytes()
    # Sound at its front, where it is looked into before the work.
    size = len(whole) // 2
    changed = whole[:size] + bytes([whole[size] ^ 1]) + whole[size + 1 :]
    (folder / "changed.tfrecord").write_bytes(changed)
    # TensorFlow's reader crashes there.
    framed = map(
        tfrecord_files.frame_record,
        tfrecord_files.read_records(sample_records),
    )
    lies = b"".join([*itertools.islice(framed, 20), create_header(1 << 30)])
    (folder / "lies.tfrecord").write_bytes(lies)
    squad = tf_examples.encode_example({"unique_ids": [1]})
    (folder / "other.tfrecord").write_bytes(tfrecord_files.frame_record(squad))
    tf1_checkpoint.write_checkpoint(
        folder / "cut.ckpt", {"global_step": tf.Variable(0)}
    )
    os.truncate(folder / "cut.ckpt.data-00000-of-00001", 1)
    return folder


@pytest.fixture
def files(wrong_files, tmp_path):
    """A copy of `wrong_files` for one test, in which its commands run."""
    return shutil.copytree(wrong_files, tmp_path / "bad", symlinks=True)


def parametrize_mistakes(*mistakes):
    """Parametrizes a test with "flags to change -> word of the error"."""
    return pytest.mark.parametrize(
        ("mistake", "culprit"),
        [mistake.split(" -> ") for mistake in mistakes],
    )


@pytest.fixture
def check_refused(files):
    """(script, flags, mistake, culprit) -> checks the error of a command."""

    def check_refused(script, flags, mistake, culprit):
        check_refusals(files, script, flags, [(mistake, culprit)])

    return check_refused


@pytest.fixture
def damaged_run(files, pretrained):
    """A copy `damaged` of a run whose checkpoints are empty, in `files`."""
    shutil.copytree(pretrained.folder / "run", files / "damaged")
    for path in (files / "damaged").glob("*.data*"):
        path.write_bytes(b"")


@pytest.mark.usefixtures("damaged_run")
@parametrize_mistakes(
    "--input_file=none* -> --input_file",
    "--input_file=other.tfrecord -> other.tfrecord",
    "--input_file=corpus.txt -> is not a TFRecord file",
    "--max_seq_length=31 -> set --max_seq_length=32",
    "--max_predictions_per_seq=6 -> set --max_predictions_per_seq=5",
    "--bert_config_file=fewer_words.json -> masked_lm_ids",
    "--bert_config_file=fewer_words.json --vocab_file=vocab.txt"
    " -> set vocab_size to 1600",
    "--output_dir=damaged -> damaged",
    "--export_dir=few -> --export_dir",
    "--input_fil=a -> input_fil",
)
def test_an_error_of_pretraining_names_the_mistake(
    mistake, culprit, check_refused, two_blocks
):
    flags = {"do_train": True, "output_dir": "out", "num_train_steps": 9}
    check_refused("run_pretraining.py", two_blocks | flags, mistake, culprit)


def test_an_evaluation_of_pretraining_names_damaged_records(
    check_refused, two_blocks, pretrained
):
    flags = {
        "do_eval": True,
        "output_dir": "out",
        "init_checkpoint": pretrained.folder / "run/model.ckpt-7",
    }
    check_refused(
        "run_pretraining.py",
        two_blocks | flags,
        "--input_file=lies.tfrecord",
        "lies.tfrecord",
    )


def test_pretraining_without_output_dir_is_refused(check_refused):
    check_refused(
        "run_pretraining.py", {}, "--input_file=a.txt", "--output_dir"
    )


@parametrize_mistakes(
    "--data_dir=columns -> columns/train.tsv, line 2",
    "--vocab_file=no_mask.txt -> [MASK]",
    "--init_checkpoint=few/no -> --init_checkpoint=few/no does not exist",
    "--output_dir=run --export_dir=run/export -> --export_dir",
)
def test_an_error_of_classification_names_the_mistake(
    mistake, culprit, check_refused, model_flags
):
    flags = model_flags | {
        "task_name": "mrpc",
        "data_dir": SAMPLES / "glue",
        "output_dir": "out",
        "do_train": True,
        "max_seq_length": 32,
    }
    check_refused("run_classifier.py", flags, mistake, culprit)


@parametrize_mistakes(
    "--data_file=topics.csv -> --init_checkpoint",
    "--data_file=few --init_checkpoint=model -> --data_file=few",
    "--data_file=a.txt --init_checkpoint=model -> .xlsx or .parquet",
    "--do_train -> --data_file",
)
def test_an_error_of_classifying_a_table_names_the_mistake(
    mistake, culprit, check_refused
):
    check_refused("run_classifier.py", {"output_dir": "out"}, mistake, culprit)


@parametrize_mistakes(
    "--do_train -> --train_file",
    "--max_query_length=61 -> --max_seq_length",
)
def test_an_error_of_squad_names_the_mistake(
    mistake, culprit, check_refused, model_flags
):
    flags = model_flags | {
        "do_predict": True,
        "predict_file": SAMPLES / "squad/dev.json",
        "output_dir": "out",
        "max_seq_length": 64,
        "max_query_length": 24,
    }
    check_refused("run_squad.py", flags, mistake, culprit)


def test_ner_names_the_line_of_a_wrong_tag(check_refused, model_flags):
    flags = model_flags | {
        "do_train": True,
        "output_dir": "out",
        "max_seq_length": 64,
    }
    check_refused(
        "run_ner.py", flags, "--data_dir=ner", "ner/train.txt, line 2"
    )


@parametrize_mistakes(
    "--vocab_file=absent -> --vocab_file",
    "--nodo_lower_case=1 -> --nodo_lower_case",
    "--input_file=empty -> empty",
    "--max_predictions_per_seq=1000000 -> --max_predictions_per_seq",
    "--num_processes=2 --output_file=a,b -> --output_file",
    "--num_processes=2 --output_file=a.txt/out -> a.txt",
)
def test_an_error_of_creating_records_names_the_mistake(
    mistake, culprit, check_refused
):
    flags = {
        "input_file": "a.txt",
        "output_file": "out.txt",
        "vocab_file": "vocab.txt",
    }
    check_refused("create_pretraining_data.py", flags, mistake, culprit)


@parametrize_mistakes(
    "--input_file=none.txt -> none.txt",
    "--input_file=link.txt --output_file=a.txt -> a.txt",
    "--output_file=empty/out.json -> empty/out.json",
)
def test_an_error_of_extract_features_names_the_mistake(
    mistake, culprit, check_refused, model_flags
):
    flags = model_flags | {
        "input_file": "a.txt",
        "output_file": "out.txt",
        "layers": "-1",
        "max_seq_length": 32,
    }
    check_refused("extract_features.py", flags, mistake, culprit)


@parametrize_mistakes(
    "--init_checkpoint=cut.ckpt -> cut.ckpt",
    "--init_checkpoint=model --output_dir=model -> --output_dir",
)
def test_an_error_of_a_conversion_names_the_mistake(
    mistake, culprit, check_refused, model_flags
):
    flags = model_flags | {"output_dir": "out"}
    check_refused("tools.convert_checkpoint", flags, mistake, culprit)


@parametrize_mistakes(
    "--input_file=absent -> --input_file",
    "--model=saved -> saved",
)
def test_an_error_of_predict_names_the_mistake(mistake, culprit, check_refused):
    flags = {"input_file": "a.txt", "output_file": "out.txt", "model": "saved"}
    check_refused("predict.py", flags, mistake, culprit)


def test_an_export_names_a_missing_model(check_refused):
    check_refused(
        "tools.export",
        {"export_dir": "out"},
        "--model=none",
        "--model=none does not exist",
    )


def test_a_server_names_a_missing_token_file(check_refused):
    flags = {"port": 0, "model": "saved"}
    check_refused("serve.py", flags, "--token_file=absent", "--token_file")


def test_training_on_a_corrupt_record_names_its_byte(files, pretraining_flags):
    flags = pretraining_flags | {
        "input_file": "changed.tfrecord",
        "output_dir": "out",
        "do_train": True,
        "num_train_steps": 100,
    }
    done = script_runner.run("run_pretraining.py", files, **flags)
    assert "the record at byte" in done.error
    assert not list(files.glob("out*/*.index"))
