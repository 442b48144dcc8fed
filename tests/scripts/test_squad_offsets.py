"""run_squad.py on text without spaces, answers cut out by offsets; reports."""

import json
import shutil

import pytest

from tests import golden, script_runner

CONTEXT = "黄河长5464公里，流经九省。长江更长，約6300公里!"
# In the middle of what white space parts: words alone cannot find it.
ANSWERS = {"长江多长？": "約6300公里"}


def write_vocab(path):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = sorted({*CONTEXT, *"多？"} - set("0123456789"))
    digits = ["5464", "6300", "公", "##公", "##里"]
    unused = [f"[unused{i}]" for i in range(1600)]
    tokens = dict.fromkeys([*special, *characters, *digits, *unused])
    path.write_text("\n".join([*tokens][:1600]))


def write_questions(path):
    qas = [
        {
            "id": f"q{i}",
            "question": question,
            "answers": [
                {"text": answer, "answer_start": CONTEXT.index(answer)}
            ],
        }
        for i, (question, answer) in enumerate(ANSWERS.items())
    ]
    paragraphs = [{"context": CONTEXT, "qas": qas}]
    content = {"version": "1.1", "data": [{"paragraphs": paragraphs}]}
    path.write_text(json.dumps(content, ensure_ascii=False))


def write_some_xquad(path):
    """Some of the real Chinese set, and the real vocabulary."""
    source = golden.SHARED / "data/squad/xquad.zh.json"
    vocab = golden.SHARED / "data/vocab/chinese.txt"
    if not source.exists() or not vocab.exists():
        return False
    content = json.loads(source.read_text(encoding="utf-8"))
    content["data"] = content["data"][:12]
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    shutil.copy(vocab, path.with_name("chinese.txt"))
    return True


@pytest.fixture(scope="module")
def answered(tmp_path_factory, tiny):
    folder = tmp_path_factory.mktemp("offsets")
    write_vocab(folder / "vocab.txt")
    write_questions(folder / "few.json")
    config = json.loads((tiny / "bert_config.json").read_text())
    (folder / "large.json").write_text(
        json.dumps(config | {"vocab_size": 21128})
    )
    flags = {
        "bert_config_file": tiny / "bert_config.json",
        "vocab_file": folder / "vocab.txt",
        "train_file": folder / "few.json",
        "predict_file": folder / "few.json",
        "output_dir": "few",
        "max_seq_length": 48,
        "max_query_length": 16,
        "doc_stride": 16,
        "train_batch_size": 1,
        "num_train_epochs": 40,
        "learning_rate": 2e-3,
        "do_train": True,
        "do_predict": True,
        "use_char_offsets": True,
        "report": True,
    }
    commands = [flags]
    if write_some_xquad(folder / "xquad.json"):
        commands.append(
            flags
            | {
                "bert_config_file": folder / "large.json",
                "vocab_file": folder / "chinese.txt",
                "predict_file": folder / "xquad.json",
                "output_dir": "xquad",
                "num_train_epochs": 2,
            }
        )
    done = script_runner.run_all(
        [("run_squad.py", folder, command) for command in commands]
    )
    for each in done:
        each.check()
    return folder


def read_results(folder):
    lines = (folder / "eval_results.txt").read_text().splitlines()
    return {k: float(v) for k, v in (line.split(" = ") for line in lines)}


def test_answers_are_the_characters_of_the_passage(answered):
    predictions = json.loads((answered / "few/predictions.json").read_text())
    assert list(predictions.values()) == list(ANSWERS.values())
    assert read_results(answered / "few")["exact_match"] == 100


def test_report_shows_the_passage(answered):
    page = (answered / "few/report.html").read_text(encoding="utf-8")
    assert "1 of 1 answers are exactly right" in page
    for question, answer in ANSWERS.items():
        assert question in page
        assert f'<span class="both">{answer}</span>' in page


def test_the_chinese_set_runs(answered):
    golden.shared("data/squad/xquad.zh.json")
    golden.shared("data/vocab/chinese.txt")
    content = json.loads((answered / "xquad.json").read_text(encoding="utf-8"))
    predictions = json.loads((answered / "xquad/predictions.json").read_text())
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            for qa in paragraph["qas"]:
                answer = predictions[qa["id"]]
                assert answer and answer in paragraph["context"]
    assert (answered / "xquad/report.html").is_file()
