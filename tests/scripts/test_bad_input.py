"""A user's mistakes get one line, a status, and nothing half-written.

Each line of a table is one bad input in a command that is well: the flags that
change, and what the error must say. Every script and every kind of file is in
one of the tables; the readers' own tests have all that can be wrong in a file.
"""

import itertools
import os
import re
import shutil

import pytest
import tensorflow as tf

from data.io import records
from modeling.checkpoints import tf1
from tests import script_runner
from tests.conftest import write_config
from tests.script_runner import check_refusals

SAMPLES = script_runner.SAMPLES
CORPUS = SAMPLES / "corpus.txt"
# The casing follows from the names of released folders.
UNCASED, CASED = "uncased_L-12_H-768_A-12", "cased_L-12_H-768_A-12"
HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
ABSENT = "No such file or directory"
SAME = "are the same"
TEXTS = {
    "empty": "",
    "a.txt": "word\n",
    "a.tfrecord.gz": "",
    "no_mask.txt": lambda vocab: vocab.replace("[MASK]", "[NONE]"),
    "columns/train.tsv": f"{HEADER}1\t2\t3\tOne text.\n",
    "few/train.tsv": f"{HEADER}1\t2\t3\tA text.\tA text.\n",
    "csv/train.csv": "text,label\na,b\na,b,c\n",
    "ner/train.txt": "word\nword NN M-PER\n",
    "swag/train.jsonl": '{"sent1": "a"}\n',
    "not.json": "{'data': 1}",
    "list.json": "[1]",
    "nested.json": "[" * 100_000,
    "v2.json": '{"data": [{"paragraphs": [{"context": "It was Ann.", "qas": '
    '[{"id": "q", "question": "Who?", "answers": []}]}]}]}',
    "model.safetensors": "x" * 99,
    "saved/saved_model.pb": "none",
    "model/vocab.txt": "model/vocab.txt",
    "model/bert_model.ckpt.index": "model/bert_model.ckpt.index",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory, tiny):
    """A folder of files that are wrong in all kinds of ways."""
    folder = tmp_path_factory.mktemp("bad")
    vocab = (SAMPLES / "vocab.txt").read_text(encoding="utf-8")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        text = text if isinstance(text, str) else text(vocab)
        (folder / name).write_text(text, encoding="utf-8")
    os.symlink("a.txt", folder / "link.txt")
    os.link(folder / "a.txt", folder / "hard.txt")
    write_config(folder / "more_words.json", vocab_size=1601)
    write_config(folder / "fewer_words.json", vocab_size=100)
    whole = (tiny / "train.tfrecord").read_bytes()
    (folder / "cut.tfrecord").write_bytes(whole[:100])
    # Sound at its front, where it is looked into before the work.
    size = len(whole) // 2
    changed = whole[:size] + bytes([whole[size] ^ 1]) + whole[size + 1 :]
    (folder / "changed.tfrecord").write_bytes(changed)
    # TensorFlow's reader crashes there.
    framed = map(records.frame, records.read_records(tiny / "train.tfrecord"))
    lies = b"".join([*itertools.islice(framed, 20), records._header(1 << 30)])
    (folder / "lies.tfrecord").write_bytes(lies)
    squad = records.encode_example({"unique_ids": [1]})
    (folder / "other.tfrecord").write_bytes(records.frame(squad))
    (folder / "flags").write_bytes(b"--vocab_size=\xff\n")
    for name in (f"{CASED}/bert_model", f"{UNCASED}/bert_model", "cut"):
        variables = {"global_step": tf.Variable(0)}
        tf1.write_checkpoint(folder / f"{name}.ckpt", variables)
    os.truncate(folder / "cut.ckpt.data-00000-of-00001", 1)
    return folder


def test_run_pretraining(files, two_blocks, pretrained):
    folder, _ = pretrained
    prefix = folder / "model.ckpt-7"
    shutil.copytree(folder, files / "damaged")
    for path in (files / "damaged").glob("*.data*"):
        path.write_bytes(b"")
    flags = {"do_train": True, "output_dir": "out", "num_train_steps": 5}
    flags |= two_blocks
    cases = [
        ("--input_file=none*", "--input_file", "no file matches 'none*'"),
        ("--input_file=empty", "empty: the file contains no record"),
        ("--input_file=cut.tfrecord", "cut.tfrecord", "truncated"),
        ("--input_file=other.tfrecord", "no feature 'input_ids'"),
        ("--bert_config_file=fewer_words.json", "vocab_size is 100"),
        ("--input_file=a.tfrecord.gz", "a.tfrecord.gz: unpack this file"),
        ("--max_seq_length=31", "=31; set --max_seq_length=32"),
        ("--max_predictions_per_seq=6", "set --max_predictions_per_seq=5"),
        ("--do_train=False", "nothing to do", "--do_train", "--do_eval"),
        ("--bert_config_file=none.json", "none.json"),
        ("--bert_config_file=not.json", "not.json is not valid JSON"),
        ("--max_seq_length=65", "--max_seq_length=65", "64 positions"),
        (f"--init_checkpoint={prefix}.index", f"prefix of its files, {prefix}"),
        ("--init_checkpoint=none.ckpt", "no checkpoint none.ckpt"),
        (
            f"--init_checkpoint={prefix} --bert_config_file=more_words.json",
            "vocab_size must be 1600, but is 1601",
        ),
        (f"--init_checkpoint={prefix} --init_from=scratch", "init_from"),
        ("--do_train=False --do_eval=True", "out", "--init_checkpoint"),
        (
            "--do_train=False --do_eval=True --input_file=lies.tfrecord "
            f"--init_checkpoint={prefix}",
            "lies.tfrecord: the file is truncated: the record at byte",
        ),
        (
            "--do_train=False --do_eval=True "
            f"--init_checkpoint={UNCASED}/bert_model.ckpt",
            f"{UNCASED}/bert_model.ckpt contains no masked LM head",
        ),
        ("--output_dir=empty/out", "--output_dir=empty/out"),
        (
            "--output_dir=damaged --num_train_steps=9",
            "none of the checkpoints in damaged can be",
        ),
        ("--export_dir=few", "--export_dir=few", "not an export"),
        ("--use_tpu=True", "--use_tpu: no TPU", "--tpu_name"),
        ("--distribution_strategy=multi_worker", "TF_CONFIG"),
        ("--num_train_steps=1e9", "--num_train_steps=1e9"),
        ("--adam_beta_1=1", "flag --adam_beta_1=1: "),
        ("--freeze_layers=3", "freeze_layers"),
        ("--mixed_precision=int8", "<float32|bfloat16|float16>"),
        ("--input_fil=a", "Unknown command line flag 'input_fil'"),
    ]
    check_refusals(files, "run_pretraining.py", flags, cases)
    cases = [
        ("--input_file=a", "missing required flags: --output_dir"),
        ("--input_file=a --output_dir=b", "required flags: --bert_config_file"),
    ]
    check_refusals(files, "run_pretraining.py", {}, cases)


def test_a_batch_beyond_memory(tmp_path, pretraining_flags):
    flags = {"train_batch_size": 100_000_000, "do_train": True}
    flags = pretraining_flags | flags | {"output_dir": "run"}
    done = script_runner.run("run_pretraining.py", tmp_path, **flags)
    # The memory that the large batch needs, and what helps.
    assert re.search(r"needs about [\d.]+ GiB", done.error)
    assert "gradient_accumulation_steps" in done.error
    assert "--gradient_checkpointing" in done.error
    assert not list(tmp_path.glob("run/model.ckpt*"))


def test_run_classifier(files, model_flags):
    flags = model_flags | {"task_name": "mrpc", "data_dir": SAMPLES / "glue"}
    flags |= {"output_dir": "out", "do_train": True, "max_seq_length": 32}
    released = f"--init_checkpoint={UNCASED}/bert_model.ckpt"
    cased = f"--init_checkpoint={CASED}/bert_model.ckpt"
    cases = [
        ("--task_name=nothing", "--task_name=nothing", "mrpc"),
        ("--data_dir=none --do_eval=True", "no train set in none"),
        ("--data_dir=columns", "columns/train.tsv, line 2", "column 5"),
        ("--vocab_file=none.txt", "none.txt"),
        ("--vocab_file=no_mask.txt", "no_mask.txt: [MASK] not found"),
        ("--bert_config_file=fewer_words.json", "larger than the model: 1600"),
        (f"{released} --do_lower_case=False", "use --do_lower_case=True"),
        (cased, "use --do_lower_case=False"),
        ("--init_checkpoint=few", "few must contain exactly one checkpoint"),
        ("--init_checkpoint=cut.ckpt", "cut.ckpt cannot be read"),
        ("--init_checkpoint=model.safetensors", "model.safetensors"),
        ("--task_name=csv --data_dir=csv", "csv/train.csv", "line 3"),
        (
            "--task_name=csv --data_dir=csv --labels=a,a",
            "--labels: label 2, 'a'",
        ),
    ]
    check_refusals(files, "run_classifier.py", flags, cases)


def test_paths_are_checked_before_any_work(files):
    names = ("task_name", "data_dir", "vocab_file", "bert_config_file")
    flags = dict.fromkeys(names, "none") | {"output_dir": "run"}
    cases = [
        ("--output_dir=", "--output_dir= is empty"),
        ("--export_dir=run/export", "an export needs a folder of its own"),
        ("--export_weights=new\x1b", "contains '\\x1b', a control character"),
        ("--export_version=1", "--export_version=1 needs --export_dir"),
        ("--export_version=1 --export_dir=run", "run/1 is inside --output_dir"),
    ]
    check_refusals(files, "run_classifier.py", flags, cases)


def test_run_squad_ner_and_swag(files, model_flags):
    flags = model_flags | {"output_dir": "out", "max_seq_length": 64}
    squad = flags | {"do_predict": True, "max_query_length": 24}
    squad["predict_file"] = SAMPLES / "squad" / "dev.json"
    cases = [
        ("--do_predict=False", "nothing to do", "--do_predict"),
        ("--predict_file=", "--predict_file"),
        ("--do_train=True", "--train_file"),
        ("--predict_file=list.json", "list.json: data[0] has no"),
        (
            "--do_train=True --train_file=v2.json",
            "v2.json: data[0].paragraphs[0].qas[0]",
            "for v2.0, set --version_2_with_negative",
        ),
        ("--max_query_length=61", "--max_seq_length=64"),
    ]
    check_refusals(files, "run_squad.py", squad, cases)
    train = flags | {"do_train": True}
    cases = [
        ("--data_dir=ner", "ner/train.txt, line 2: the line has 3 columns")
    ]
    check_refusals(files, "run_ner.py", train, cases)
    cases = [("--data_dir=swag", "swag/train.jsonl, line 1")]
    check_refusals(files, "run_swag.py", train, cases)


def test_texts_and_vocabularies(files, model_flags):
    vocabulary = {"input_file": "a.txt", "output_file": "out"}
    cases = [
        ("--vocab_size=x", "--vocab_size=x"),
        ("--vocab_size=105", "--vocab_size=105 is too small"),
        ("--num_new_words=3", "--num_new_words needs --extend"),
        ("--extend=a.txt --vocab_size=50", "--vocab_size is only for a"),
        ("--input_file=none*", "--input_file: no file"),
        ("--input_file=empty", "no words in the input"),
        ("--output_file=hard.txt", SAME),
        ("--flagfile=flags", "--flagfile: byte 13 is not UTF-8"),
    ]
    check_refusals(files, "tools.create_vocabulary", vocabulary, cases)
    cases = [
        ("--vocab_file=absent", "error: --vocab_file=absent: ", ABSENT),
        ("--input_file=*.txt --output_file=new,link.txt", SAME),
        ("--output_file=model/vocab.txt", SAME),
    ]
    make = vocabulary | {"vocab_file": "model/vocab.txt"}
    check_refusals(files, "create_pretraining_data.py", make, cases)
    corpus = f"--input_file={CORPUS} --vocab_file={SAMPLES}/vocab.txt"
    at_scale = f"{corpus} --num_processes=2"
    cases = [
        (f"{corpus} --input_file=empty", "no text in the input: empty"),
        (f"{corpus} --vocab_file=a.txt", "a.txt: [CLS], [SEP], [MASK]"),
        (f"{corpus} --output_file=a,a", "named twice"),
        (f"{corpus} --max_seq_length=4", "max_seq_length"),
        (
            f"{corpus} --max_predictions_per_seq=1000000",
            "--max_predictions_per_seq=1000000 is more than --max_seq_length",
        ),
        (f"{at_scale} --output_file=a,b", "--output_file must be one name"),
        (
            f"{at_scale} --output_file=gs://a/b",
            "resume killed runs only on a local",
        ),
        (f"{at_scale} --output_file=a.txt/out", "a.txt"),
        (f"{at_scale} --dupe_facter=3", "unknown arguments"),
    ]
    check_refusals(files, "create_pretraining_data.py", make, cases)
    features = model_flags | {"input_file": CORPUS, "output_file": "out"}
    features |= {"layers": "-1", "max_seq_length": 32}
    cases = [
        ("--input_file=none.txt", "--input_file", "none.txt"),
        ("--input_file=link.txt --output_file=a.txt", SAME),
        ("--output_file=empty/out.json", "empty/out.json"),
    ]
    check_refusals(files, "extract_features.py", features, cases)


def test_models(files, model_flags):
    model = "--init_checkpoint=model"
    cases = [
        ("--init_checkpoint=cut.ckpt", "cut.ckpt"),
        (f"{model}/bert_model.ckpt --output_dir=model", "is inside"),
        (f"{model}/../model --output_dir=model", SAME),
    ]
    convert = model_flags | {"output_dir": "out"}
    check_refusals(files, "tools.convert_checkpoint", convert, cases)
    for script, flags, cases in (
        (
            "predict.py",
            {"input_file": "a.txt", "output_file": "out", "model": "saved"},
            [
                (
                    "--input_file=absent",
                    "--input_file: no file matches 'absent'",
                ),
                ("--output_file=a.txt", SAME),
                ("--model=saved", "saved"),
                ("--model=model --output_file=model/vocab.txt", "is inside"),
            ],
        ),
        (
            "serve.py",
            {"port": 0, "model": "saved"},
            [("--token_file=absent", "error: --token_file=absent: ", ABSENT)],
        ),
    ):
        cases += [("--model=none", "none")]
        check_refusals(files, script, flags, cases)


def test_records_that_are_found_corrupt_while_training(
    files, pretraining_flags
):
    cases = [("--input_file=changed.tfrecord", "the record at byte", "corrupt")]
    flags = {"output_dir": "out", "do_train": True, "num_train_steps": 100}
    flags = pretraining_flags | flags
    script_runner.check_errors(files, "run_pretraining.py", flags, cases)
    assert not list(files.glob("out*/*.index"))
