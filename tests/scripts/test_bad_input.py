"""A user's mistakes get one line, a status, and nothing half-written.

Each line of a table is a bad input in a command that is well: the flags that
change, and the word of the error that names the culprit. The readers' own tests
have all that can be wrong in a file.
"""

import itertools
import os
import shutil

import pytest
import tensorflow as tf

from data.io import records, tf_examples
from modeling.checkpoints import tf1
from tests.support import script_runner
from tests.support.models import write_config
from tests.support.script_runner import check_refusals
from tests.support.shards import create_header

SAMPLES = script_runner.SAMPLES
CORPUS = SAMPLES / "corpus.txt"
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
def wrong_files(tmp_path_factory, tiny):
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
    write_config(folder / "fewer_words.json", vocab_size=100)
    whole = (tiny / "train.tfrecord").read_bytes()
    # Sound at its front, where it is looked into before the work.
    size = len(whole) // 2
    changed = whole[:size] + bytes([whole[size] ^ 1]) + whole[size + 1 :]
    (folder / "changed.tfrecord").write_bytes(changed)
    # TensorFlow's reader crashes there.
    framed = map(
        records.frame_record, records.read_records(tiny / "train.tfrecord")
    )
    lies = b"".join([*itertools.islice(framed, 20), create_header(1 << 30)])
    (folder / "lies.tfrecord").write_bytes(lies)
    squad = tf_examples.encode_example({"unique_ids": [1]})
    (folder / "other.tfrecord").write_bytes(records.frame_record(squad))
    tf1.write_checkpoint(folder / "cut.ckpt", {"global_step": tf.Variable(0)})
    os.truncate(folder / "cut.ckpt.data-00000-of-00001", 1)
    return folder


@pytest.fixture
def files(wrong_files, tmp_path):
    """A copy of `wrong_files` for one test, in which its commands run."""
    return shutil.copytree(wrong_files, tmp_path / "bad", symlinks=True)


def refuse(folder, script, flags, table):
    """Checks the lines of a table: "--name=value ... -> culprit"."""
    lines = filter(None, map(str.strip, table.splitlines()))
    cases = [tuple(line.split(" -> ")) for line in lines]
    check_refusals(folder, script, flags, cases)


def test_pretraining_names_what_is_wrong(files, two_blocks, pretrained):
    folder, _ = pretrained
    prefix = folder / "model.ckpt-7"
    shutil.copytree(folder, files / "damaged")
    for path in (files / "damaged").glob("*.data*"):
        path.write_bytes(b"")
    flags = {"do_train": True, "output_dir": "out", "num_train_steps": 9}
    evaluating = f"--do_train=False --do_eval --init_checkpoint={prefix}"
    own = (
        f"--bert_config_file=fewer_words.json --vocab_file={SAMPLES}/vocab.txt"
    )
    table = f"""
        --input_file=none* -> --input_file
        --input_file=other.tfrecord -> other.tfrecord
        --input_file={CORPUS} -> is not a TFRecord file. Create records from
        --max_seq_length=31 -> have 32; set --max_seq_length=32
        --max_predictions_per_seq=6 -> have 5; set --max_predictions_per_seq=5
        --bert_config_file=fewer_words.json -> masked_lm_ids
        {own} -> 1600 WordPieces, but vocab_size is 100; set vocab_size to 1600
        {evaluating} --input_file=lies.tfrecord -> lies.tfrecord
        --output_dir=damaged -> damaged
        --export_dir=few -> --export_dir
        --input_fil=a -> input_fil
    """
    refuse(files, "run_pretraining.py", two_blocks | flags, table)
    table = "--input_file=a -> --output_dir"
    refuse(files, "run_pretraining.py", {}, table)


def test_classification_names_what_is_wrong(files, model_flags):
    flags = model_flags | {
        "task_name": "mrpc",
        "data_dir": SAMPLES / "glue",
        "output_dir": "out",
        "do_train": True,
        "max_seq_length": 32,
    }
    table = """
        --data_dir=columns -> columns/train.tsv, line 2
        --vocab_file=no_mask.txt -> [MASK]
        --init_checkpoint=few/no -> --init_checkpoint=few/no does not exist; for
        --output_dir=run --export_dir=run/export -> --export_dir
    """
    refuse(files, "run_classifier.py", flags, table)
    table = f"""
        --data_file={SAMPLES}/topics/dev.csv -> flags: --init
        --data_file=few --init_checkpoint=model -> --data_file=few: Is a dir
        --data_file=a.txt --init_checkpoint=model -> .xlsx or .parquet
        --do_train -> --data_file
    """
    refuse(files, "run_classifier.py", {"output_dir": "out"}, table)


def test_squad_and_ner_name_what_is_wrong(files, model_flags):
    flags = model_flags | {"output_dir": "out", "max_seq_length": 64}
    table = """
        --do_train -> --train_file
        --max_query_length=61 -> --max_seq_length
    """
    squad = {"do_predict": True, "predict_file": SAMPLES / "squad/dev.json"}
    squad["max_query_length"] = 24
    refuse(files, "run_squad.py", flags | squad, table)
    flags["do_train"] = True
    table = "--data_dir=ner -> ner/train.txt, line 2"
    refuse(files, "run_ner.py", flags, table)


def test_scripts_that_read_texts_name_what_is_wrong(files, model_flags):
    texts = {"input_file": "a.txt", "output_file": "out.txt"}
    table = """
        --vocab_file=absent -> --vocab_file
        --nodo_lower_case=1 -> --nodo_lower_case
        --input_file=empty -> empty
        --max_predictions_per_seq=1000000 -> --max_predictions_per_seq
        --num_processes=2 --output_file=a,b -> --output_file
        --num_processes=2 --output_file=a.txt/out -> a.txt
    """
    vocabulary = {"vocab_file": SAMPLES / "vocab.txt"}
    refuse(files, "create_pretraining_data.py", texts | vocabulary, table)
    table = """
        --input_file=none.txt -> none.txt
        --input_file=link.txt --output_file=a.txt -> a.txt
        --output_file=empty/out.json -> empty/out.json
    """
    flags = model_flags | texts | {"layers": "-1", "max_seq_length": 32}
    refuse(files, "extract_features.py", flags, table)


def test_scripts_that_load_models_name_what_is_wrong(files, model_flags):
    table = """
        --init_checkpoint=cut.ckpt -> cut.ckpt
        --init_checkpoint=model --output_dir=model -> --output_dir
    """
    flags = model_flags | {"output_dir": "out"}
    refuse(files, "tools.convert_checkpoint", flags, table)
    flags = {"input_file": "a.txt", "output_file": "out.txt", "model": "saved"}
    table = """
        --input_file=absent -> --input_file
        --model=saved -> saved
    """
    refuse(files, "predict.py", flags, table)
    table = "--model=none -> --model=none does not exist"
    refuse(files, "tools.export", {"export_dir": "out"}, table)
    table = "--token_file=absent -> --token_file"
    refuse(files, "serve.py", {"port": 0, "model": "saved"}, table)


def test_records_that_are_found_corrupt_while_training(
    files, pretraining_flags
):
    flags = pretraining_flags | {
        "input_file": "changed.tfrecord",
        "output_dir": "out",
        "do_train": True,
        "num_train_steps": 100,
    }
    done = script_runner.run("run_pretraining.py", files, **flags)
    assert "the record at byte" in done.error
    assert not list(files.glob("out*/*.index"))
