"""A user's mistakes get one line, a status, and nothing half-written.

MISTAKES lists them: the command, the flags that are changed to wrong ones, and
how the line `error: ...` names the culprit at its beginning. The readers' own
tests have all that can be wrong in a file.
"""

import itertools
import os
import shutil

import pytest
import tensorflow as tf

from data.io import tf_examples, tfrecords
from modeling.checkpoints import tf1_writer
from tests.support import script_runner
from tests.support.models import write_config
from tests.support.paths import SAMPLES
from tests.support.script_runner import check_refusals, split_flags
from tests.support.shards import create_header

HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
VOCABULARY = (SAMPLES / "vocab.txt").read_text(encoding="utf-8")
# {file: its text}.
TEXTS = {
    "empty": "",
    "a.txt": "word\n",
    "no_mask.txt": VOCABULARY.replace("[MASK]", "[NONE]"),
    "columns/train.tsv": f"{HEADER}1\t2\t3\tOne text.\n",
    "few/train.tsv": f"{HEADER}1\t2\t3\tA text.\tA text.\n",
    "ner/train.txt": "word\nword NN M-PER\n",
    "saved/saved_model.pb": "none",
    "model/vocab.txt": "model/vocab.txt",
    "model/bert_model.ckpt.index": "model/bert_model.ckpt.index",
}


def write_wrong_records(folder, sample_records):
    """Writes records that are changed, cut or of another task."""
    whole = sample_records.read_bytes()
    # Sound at its front, where it is looked into before the work.
    middle = len(whole) // 2
    changed = bytearray(whole)
    changed[middle] ^= 1
    (folder / "changed.tfrecord").write_bytes(changed)
    # TensorFlow's reader crashes there.
    framed = map(
        tfrecords.frame_record,
        tfrecords.read_records(sample_records),
    )
    lies = b"".join([*itertools.islice(framed, 20), create_header(1 << 30)])
    (folder / "lies.tfrecord").write_bytes(lies)
    squad = tf_examples.encode_example({"unique_ids": [1]})
    (folder / "other.tfrecord").write_bytes(tfrecords.frame_record(squad))


def write_wrong_weights(folder, run):
    """Writes a checkpoint without its values, and a run of such ones."""
    write_config(folder / "fewer_words.json", vocab_size=100)
    tf1_writer.write_checkpoint(
        folder / "cut.ckpt", {"global_step": tf.Variable(0)}
    )
    os.truncate(folder / "cut.ckpt.data-00000-of-00001", 1)
    shutil.copytree(run, folder / "damaged")
    for path in (folder / "damaged").glob("*.data*"):
        path.write_bytes(b"")


@pytest.fixture(scope="module")
def wrong_files(tmp_path_factory, sample_records, pretrained):
    """A folder of files that are wrong in all kinds of ways.

    No test changes it. A test works on its own copy, `files`.
    """
    folder = tmp_path_factory.mktemp("bad")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    os.symlink("a.txt", folder / "link.txt")
    shutil.copy(SAMPLES / "vocab.txt", folder)
    shutil.copy(SAMPLES / "corpus.txt", folder)
    shutil.copy(sample_records, folder / "sound.tfrecord")
    shutil.copy(SAMPLES / "topics/dev.csv", folder / "topics.csv")
    write_wrong_records(folder, sample_records)
    write_wrong_weights(folder, pretrained.folder / "run")
    return folder


@pytest.fixture
def files(wrong_files, tmp_path):
    """A copy of `wrong_files` for one test, in which its commands run."""
    return shutil.copytree(wrong_files, tmp_path / "bad", symlinks=True)


@pytest.fixture(scope="module")
def commands(model_flags, two_blocks, pretrained):
    """{command: (script, flags)} of commands that are well.

    A mistake changes some of their flags.
    """
    weights = pretrained.folder / "run/model.ckpt-7"
    output = {"output_dir": "out"}
    training = {"do_train": True, **output}
    return {
        "create": (
            "create_pretraining_data.py",
            split_flags(
                "--input_file=a.txt --output_file=out.txt "
                "--vocab_file=vocab.txt"
            ),
        ),
        "pretrain": (
            "run_pretraining.py",
            {**two_blocks, **training, "num_train_steps": 9},
        ),
        "evaluate pretraining": (
            "run_pretraining.py",
            {
                **two_blocks,
                **output,
                "do_eval": True,
                "init_checkpoint": weights,
            },
        ),
        "pretrain without flags": ("run_pretraining.py", {}),
        "classify GLUE": (
            "run_classifier.py",
            {
                **model_flags,
                **training,
                "task_name": "mrpc",
                "data_dir": SAMPLES / "glue",
                "max_seq_length": 32,
            },
        ),
        "classify a table": ("run_classifier.py", output),
        "answer": (
            "run_squad.py",
            {
                **model_flags,
                **output,
                "do_predict": True,
                "predict_file": SAMPLES / "squad/dev.json",
                "max_seq_length": 64,
                "max_query_length": 24,
            },
        ),
        "tag": (
            "run_ner.py",
            {**model_flags, **training, "max_seq_length": 64},
        ),
        "extract": (
            "extract_features.py",
            {
                **model_flags,
                "input_file": "a.txt",
                "output_file": "out.txt",
                "layers": "-1",
                "max_seq_length": 32,
            },
        ),
        "convert": ("tools.convert_checkpoint", {**model_flags, **output}),
        "export": ("tools.export", {"export_dir": "out"}),
        "predict": (
            "predict.py",
            split_flags(
                "--input_file=a.txt --output_file=out.txt --model=saved"
            ),
        ),
        "serve": ("serve.py", split_flags("--port=0 --model=saved")),
    }


# (command, flags that are wrong, the beginning of the error line).
MISTAKES = [
    ("create", "--vocab_file=absent", "--vocab_file=absent: No such file"),
    ("create", "--nodo_lower_case=1", "--nodo_lower_case=1 does not take"),
    ("create", "--input_file=empty", "no text in the input: empty;"),
    (
        "create",
        "--max_predictions_per_seq=1000000",
        "flag --max_predictions_per_seq=",
    ),
    (
        "create",
        "--num_processes=2 --output_file=a,b",
        "--output_file=a,b must be",
    ),
    (
        "create",
        "--num_processes=2 --output_file=a.txt/out",
        "--output_file=a.txt/out:",
    ),
    ("pretrain", "--input_file=none*", "--input_file: no file is 'none*'"),
    ("pretrain", "--input_file=other.tfrecord", "other.tfrecord, record 0:"),
    ("pretrain", "--input_file=corpus.txt", "corpus.txt is not a TFRecord"),
    ("pretrain", "--max_seq_length=31", "--max_seq_length=31, but"),
    (
        "pretrain",
        "--max_predictions_per_seq=6",
        "--max_predictions_per_seq=6, but",
    ),
    (
        "pretrain",
        "--input_file=sound.tfrecord --bert_config_file=fewer_words.json",
        "sound.tfrecord, record 0: 'masked_lm_ids' is not from 0 to 99",
    ),
    (
        "pretrain",
        "--bert_config_file=fewer_words.json --vocab_file=vocab.txt",
        "vocab.txt contains 1600 WordPieces, but vocab_size is 100",
    ),
    ("pretrain", "--output_dir=damaged", "none of the checkpoints in damaged"),
    ("pretrain", "--export_dir=few", "--export_dir=few is not replaced"),
    ("pretrain", "--input_fil=a", "Unknown command line flag 'input_fil'"),
    (
        "evaluate pretraining",
        "--input_file=lies.tfrecord",
        "lies.tfrecord: the record at",
    ),
    (
        "pretrain without flags",
        "--input_file=a.txt",
        "missing required flags: --output_dir",
    ),
    (
        "classify GLUE",
        "--data_dir=columns",
        "columns/train.tsv, line 2: the line has too few columns",
    ),
    (
        "classify GLUE",
        "--vocab_file=no_mask.txt",
        "no_mask.txt: [MASK] not found",
    ),
    (
        "classify GLUE",
        "--init_checkpoint=few/no",
        "--init_checkpoint=few/no does not exist",
    ),
    (
        "classify GLUE",
        "--output_dir=run --export_dir=run/export",
        "--export_dir=run/export overlaps --output_dir=run",
    ),
    (
        "classify a table",
        "--data_file=topics.csv",
        "missing required flags: --init_checkpoint",
    ),
    (
        "classify a table",
        "--data_file=few --init_checkpoint=model",
        "--data_file=few: Is a directory",
    ),
    (
        "classify a table",
        "--data_file=a.txt --init_checkpoint=model",
        "--data_file=a.txt must end in .csv",
    ),
    (
        "classify a table",
        "--do_train --bert_config_file=fewer_words.json --vocab_file=vocab.txt",
        "missing required flags: --data_dir, --data_file",
    ),
    ("answer", "--do_train", "missing required flags: --train_file"),
    ("answer", "--max_query_length=61", "--max_seq_length=64 must be more"),
    ("tag", "--data_dir=ner", "ner/train.txt, line 2: the line has 3"),
    ("extract", "--input_file=none.txt", "--input_file=none.txt: No such file"),
    (
        "extract",
        "--input_file=link.txt --output_file=a.txt",
        "--output_file=a.txt overlaps --input_file=link.txt",
    ),
    (
        "extract",
        "--output_file=empty/out.json",
        "--output_file=empty/out.json:",
    ),
    ("convert", "--init_checkpoint=cut.ckpt", "cut.ckpt cannot be read"),
    (
        "convert",
        "--init_checkpoint=model --output_dir=model",
        "--output_dir=model overlaps --init_checkpoint=model",
    ),
    ("export", "--model=none", "--model=none does not exist"),
    ("predict", "--input_file=absent", "--input_file: no file is 'absent'"),
    ("predict", "--model=saved", "Cannot parse file b'saved/saved_model.pb'"),
    ("serve", "--token_file=absent", "--token_file=absent: No such file"),
]


@pytest.mark.parametrize(("command", "wrong_flags", "message"), MISTAKES)
def test_the_error_line_names_the_culprit(
    command, wrong_flags, message, commands, files
):
    script, flags = commands[command]
    check_refusals(files, script, flags, [(wrong_flags, f"error: {message}")])


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
