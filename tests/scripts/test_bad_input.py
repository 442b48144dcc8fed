"""A user's mistakes get one line, a status, and nothing half-written."""

import os
import shutil

import pytest
import tensorflow as tf

from data.io import records
from tests import script_runner
from tests.bad_files import CASED, UNCASED, write_bad_files

SAMPLES = script_runner.SAMPLES


@pytest.fixture(scope="module")
def files(tmp_path_factory, tiny):
    """A folder of files that are wrong in all kinds of ways."""
    folder = tmp_path_factory.mktemp("bad")
    write_bad_files(folder, tiny)
    return folder


@pytest.fixture
def refusals(files):
    """Runs commands that are to be refused; checks what each one says.

    Takes the script, the flags that are well, and a list of what is changed
    in them and the parts that the error must have.
    """

    def check(script, flags, cases):
        before = {path: path.stat().st_mtime_ns for path in files.rglob("*")}
        commands = []
        for number, (changes, *_) in enumerate(cases):
            given = flags | changes
            if given.get("output_dir") == "out":
                # Two commands at once do not share a folder.
                given["output_dir"] = f"out{number}"
            commands.append((script, files, given))
        for done, (changes, *parts) in zip(
            script_runner.run_all(commands), cases, strict=True
        ):
            lost = [part for part in parts if part not in done.error]
            assert not lost, f"{changes}: {done.error}"
        after = {path: path.stat().st_mtime_ns for path in files.rglob("*")}
        assert after == before

    return check


@pytest.fixture
def train_flags(pretraining_flags):
    """Flags of run_pretraining.py that are well."""
    return pretraining_flags | {
        "do_train": True,
        "output_dir": "out",
        "num_train_steps": 5,
    }


def test_records_of_pretraining(refusals, train_flags):
    refusals(
        "run_pretraining.py",
        train_flags,
        [
            (
                {"input_file": "none*"},
                "--input_file",
                "no file matches 'none*'",
            ),
            ({"input_file": "empty"}, "empty: the file holds no record"),
            ({"input_file": "cut.tfrecord"}, "cut.tfrecord", "truncated"),
            (
                {"input_file": "text.tfrecord"},
                "text.tfrecord",
                "not a TFRecord",
            ),
            ({"input_file": "other.tfrecord"}, "no feature 'input_ids'"),
            (
                {"bert_config_file": "fewer_words.json"},
                "train.tfrecord",
                "vocab_size is 100",
                "--bert_config_file",
            ),
            (
                {"max_seq_length": 31},
                "train.tfrecord",
                "--max_seq_length=31; give --max_seq_length=32",
            ),
            (
                {"max_predictions_per_seq": 6},
                "train.tfrecord",
                "--max_predictions_per_seq=6; give --max_predictions_per_seq=5",
            ),
        ],
    )


def test_run_pretraining(refusals, train_flags, pretrained):
    folder, _ = pretrained
    checkpoint = folder / "model.ckpt-7"
    refusals(
        "run_pretraining.py",
        train_flags,
        [
            ({"do_train": False}, "nothing to do", "--do_train", "--do_eval"),
            ({"bert_config_file": "none.json"}, "none.json"),
            ({"bert_config_file": "not.json"}, "not.json is not valid JSON"),
            ({"bert_config_file": "odd_heads.json"}, "num_attention_heads"),
            (
                {"max_seq_length": 65},
                "--max_seq_length=65",
                "64 positions",
                "give a smaller",
            ),
            (
                {"max_predictions_per_seq": 33},
                "--max_predictions_per_seq=33",
                "--max_seq_length=32",
            ),
            (
                {"init_checkpoint": f"{checkpoint}.index"},
                f"{checkpoint}.index",
                f"give what its files share, {checkpoint}",
            ),
            ({"init_checkpoint": "none.ckpt"}, "no checkpoint none.ckpt"),
            (
                {
                    "init_checkpoint": checkpoint,
                    "bert_config_file": "more_words.json",
                },
                "vocab_size is 1600 there and 1601 here",
            ),
            (
                {
                    "init_checkpoint": checkpoint,
                    "bert_config_file": "wide.json",
                },
                "has shape",
                "the configuration does not belong to this checkpoint",
            ),
            ({"do_train": False, "do_eval": True}, "out", "--init_checkpoint"),
            ({"output_dir": "empty/out"}, "--output_dir=empty/out"),
            ({"export_dir": "empty/out"}, "--export_dir=empty/out"),
            ({"export_dir": "few"}, "--export_dir=few", "not an export"),
            ({"use_tpu": True}, "--use_tpu: no TPU", "--tpu_name"),
        ],
    )


def test_records_that_are_found_corrupt_while_training(
    tmp_path, files, pretraining_flags
):
    done = script_runner.run(
        "run_pretraining.py",
        tmp_path,
        **pretraining_flags
        | {
            "input_file": files / "changed.tfrecord",
            "output_dir": "out",
            "do_train": True,
            "num_train_steps": 100,
        },
    )
    assert f"{files}/changed.tfrecord: the record at byte " in done.error
    assert "corrupt" in done.error
    assert not list(tmp_path.rglob("*.index"))


def test_an_id_beyond_the_vocabulary_in_a_later_record(
    tmp_path, tiny, pretraining_flags
):
    serialized = list(records.read_records(str(tiny / "train.tfrecord")))
    example = tf.train.Example.FromString(serialized[-1])
    example.features.feature["input_ids"].int64_list.value[3] = 5000
    serialized[-1] = example.SerializeToString()
    with records.RecordWriter([str(tmp_path / "beyond.tfrecord")]) as writer:
        for record in serialized:
            writer.write(record)
    done = script_runner.run(
        "run_pretraining.py",
        tmp_path,
        **pretraining_flags
        | {
            "input_file": "beyond.tfrecord",
            "output_dir": "out",
            "do_train": True,
            "num_train_steps": 100,
        },
    )
    assert "a record holds the id 5000, which is beyond" in done.error
    assert "1600 ids" in done.error


def test_another_run_in_the_folder(tmp_path, pretrained, pretraining_flags):
    folder, _ = pretrained
    for name in ("run", "damaged"):
        shutil.copytree(folder, tmp_path / name)
    for path in (tmp_path / "damaged").glob("*.data*"):
        path.write_bytes(b"")
    flags = pretraining_flags | {"do_train": True, "num_train_steps": 9}
    other, damaged = script_runner.run_all(
        [
            (
                "run_pretraining.py",
                tmp_path,
                flags | {"output_dir": "run", "train_batch_size": 4},
            ),
            ("run_pretraining.py", tmp_path, flags | {"output_dir": "damaged"}),
        ]
    )
    assert "--output_dir=run holds a run with batch_size=16" in other.error
    assert "none of the checkpoints in damaged can be read" in damaged.error
    for name in ("run", "damaged"):
        assert sorted(os.listdir(tmp_path / name)) == sorted(os.listdir(folder))


def test_run_classifier(files, refusals, model_flags):
    flags = model_flags | {
        "task_name": "mrpc",
        "data_dir": SAMPLES / "glue",
        "output_dir": "out",
        "do_train": True,
        "max_seq_length": 32,
    }
    refusals(
        "run_classifier.py",
        flags,
        [
            ({"do_train": False}, "nothing to do", "--do_predict"),
            ({"task_name": "nothing"}, "--task_name=nothing", "mrpc"),
            ({"data_dir": "none"}, "none/train.tsv"),
            ({"data_dir": "none", "do_eval": True}, "none/train.tsv"),
            ({"data_dir": "columns"}, "columns/train.tsv, line 2", "column 5"),
            ({"data_dir": "label"}, "label/train.tsv, line 3", "'yes'"),
            ({"vocab_file": "none.txt"}, "none.txt"),
            ({"vocab_file": "no_mask.txt"}, "no_mask.txt: no [MASK]"),
            ({"vocab_file": "twice.txt"}, "twice.txt, line 4", "line 3"),
            (
                {"bert_config_file": "more_words.json"},
                "vocab.txt is smaller than the model: 1600",
            ),
            (
                {"bert_config_file": "fewer_words.json"},
                "vocab.txt is larger than the model: 1600",
            ),
            (
                {
                    "init_checkpoint": f"{UNCASED}/bert_model.ckpt",
                    "do_lower_case": False,
                },
                "--do_lower_case=False",
                "give --do_lower_case=True",
            ),
            (
                {"init_checkpoint": f"{CASED}/bert_model.ckpt"},
                "--do_lower_case=True",
                "give --do_lower_case=False",
            ),
            ({"max_seq_length": 65}, "--max_seq_length=65", "64 positions"),
            ({"output_dir": "empty"}, "--output_dir=empty"),
            ({"init_checkpoint": "none.ckpt"}, "no checkpoint none.ckpt"),
            ({"init_checkpoint": "few"}, "few must hold one checkpoint"),
            ({"init_checkpoint": "cut.ckpt"}, "cut.ckpt cannot be read"),
        ],
    )


def test_a_training_set_of_less_than_a_step(tmp_path, files, model_flags):
    done = script_runner.run(
        "run_classifier.py",
        tmp_path,
        **model_flags,
        task_name="mrpc",
        data_dir=files / "few",
        output_dir="out",
        do_train=True,
        max_seq_length=32,
    )
    assert "--num_train_epochs=3.0 of 1 examples" in done.error
    assert "--train_batch_size" in done.error


def test_run_squad(files, refusals, model_flags):
    flags = model_flags | {
        "output_dir": "out",
        "do_predict": True,
        "predict_file": SAMPLES / "squad" / "dev.json",
        "max_seq_length": 64,
        "max_query_length": 24,
    }
    refusals(
        "run_squad.py",
        flags,
        [
            ({"do_predict": False}, "nothing to do", "--do_predict"),
            ({"predict_file": ""}, "--predict_file"),
            ({"do_train": True}, "--train_file"),
            ({"predict_file": "none.json"}, "none.json"),
            ({"predict_file": "not.json"}, "not.json is not valid JSON"),
            (
                {"predict_file": "list.json"},
                "list.json must hold a JSON obj",
            ),
            (
                {"do_train": True, "train_file": "v2.json"},
                "v2.json: data[0].paragraphs[0].qas[0]",
                "SQuAD v2.0",
            ),
            ({"max_query_length": 61}, "--max_seq_length=64"),
            (
                {"init_checkpoint": "model.safetensors"},
                "no file model.safetensors",
            ),
        ],
    )


def test_extract_features(files, refusals, model_flags):
    flags = model_flags | {
        "input_file": SAMPLES / "corpus.txt",
        "output_file": "out.json",
        "layers": "-1",
        "max_seq_length": 32,
    }
    refusals(
        "extract_features.py",
        flags,
        [
            ({"input_file": "none.txt"}, "--input_file", "none.txt"),
            ({"layers": "-1,-3"}, "--layers=-1,-3", "2 blocks"),
            ({"layers": "last"}, "--layers=last"),
            ({"init_checkpoint": "none.ckpt"}, "no checkpoint none.ckpt"),
            ({"output_file": "empty/out.json"}, "empty/out.json"),
            ({"max_seq_length": 65}, "--max_seq_length=65"),
        ],
    )


def test_flags_that_are_missing_or_unknown(tmp_path):
    missing, unknown, out_of_range, a_list = script_runner.run_all(
        [
            ("run_pretraining.py", tmp_path, {"input_file": "a"}),
            ("run_pretraining.py", tmp_path, {"input_fil": "a"}),
            ("extract_features.py", tmp_path, {"batch_size": 0}),
            ("run_squad.py", tmp_path, {"mixed_precision": "int8"}),
        ]
    )
    assert missing.error == (
        "error: give --bert_config_file and --output_dir (--help lists the "
        "flags)"
    )
    assert "Unknown command line flag 'input_fil'" in unknown.error
    assert "--batch_size=0" in out_of_range.error
    assert "<float32|bfloat16|float16>" in a_list.error
    assert not os.listdir(tmp_path)
