"""run_classifier.py on pairs to embed, and passages to rank."""

import csv
import json

import numpy as np
import pytest

import modeling
import predict
import serving
from data.text.tokenization import FullTokenizer
from tests import script_runner
from tests.conftest import TINY
from tests.script_runner import (
    check_errors,
    parse_flags,
    read_lines,
    read_results,
)

pytestmark = pytest.mark.slow
TEXTS = ["the river", "a boat sails", "the sky is blue", "an old lamp"]


def write(folder, name, header, rows):
    folder.mkdir(exist_ok=True)
    with open(folder / f"{name}.csv", "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def trained(tmp_path_factory, tiny):
    """{task: its folder, with a run and an export}."""
    folder = tmp_path_factory.mktemp("pairs")
    rows = [(a, b, int(a == b)) for a in TEXTS for b in TEXTS]
    header = ["query", "passage", "relevance"]
    for name in ("train", "dev", "test"):
        write(folder / "ranking", name, header, rows)
        close = [(text, f"{text} now") for text in TEXTS]
        write(folder / "close", name, ["text", "text_b"], close)
    write(folder / "scores", "train", ["text", "text_b", "score"], rows)
    write(folder / "scores", "dev", ["text", "text_b", "score"], rows)
    write(folder / "scores", "test", ["text", "text_b"], [r[:2] for r in rows])
    kinds = {"ranking": "ranking", "close": "embedding", "scores": "embedding"}
    done = script_runner.run_all(
        [
            (
                "run_classifier.py",
                folder,
                script_runner.fine_tuning_flags(
                    folder / kind,
                    tiny / "one_block",
                    task_name=task_name,
                    num_train_epochs=1,
                    learning_rate=1e-3,
                    output_dir=folder / kind / "run",
                    **{"do_predict": False}
                    if kind == "close"
                    else {
                        "export_dir": folder / kind / "served",
                        "export_format": "litert",
                    },
                ),
            )
            for kind, task_name in kinds.items()
        ]
    )
    for one in done:
        one.check()
    return {kind: folder / kind for kind in kinds}


def test_passages_are_ranked(trained):
    run = trained["ranking"] / "run"
    results = read_results(run)
    assert 0 < results["mrr_10"] <= 1 and 0 < results["ndcg_10"] <= 1
    exported = read_results(run, "export_eval_results.txt")
    assert exported["litert_mrr_10"] == results["mrr_10"]
    # The test set is the dev set.
    scores = read_results(run, "test_eval_results.txt")
    assert scores["ndcg_10"] == pytest.approx(results["ndcg_10"])
    entries = read_lines(run / "predictions.jsonl")
    bert = serving.load(trained["ranking"] / "served")
    found = bert.rerank(TEXTS[0], TEXTS)["ranking"]
    order = sorted(range(4), key=lambda i: -entries[i]["label"])
    assert [each["index"] for each in found] == order
    assert [each["score"] for each in found] == pytest.approx(
        [entries[i]["label"] for i in order], abs=1e-5
    )


def test_vectors_are_trained_and_exported(trained):
    assert "recall_1" in read_results(trained["close"] / "run")
    folder = trained["scores"]
    assert "spearman" in read_results(folder / "run")
    bert = serving.load(folder / "served")
    assert bert.tasks == ["embed", "tokenize"]
    entries = read_lines(folder / "run/predictions.jsonl")
    first, second = (
        bert.embed([entry[name] for entry in entries])
        for name in ("text_a", "text_b")
    )
    for entry, one, other in zip(entries, first, second, strict=True):
        cosine = np.dot(one["mean_normalized"], other["mean_normalized"])
        assert entry["label"] == pytest.approx(cosine, abs=1e-4)
    # One that was trained to compare texts starts any other encoder.
    text = folder / "text.txt"
    text.write_text("the boat\n")
    flags = {"init_checkpoint": folder / "run", "input_file": text}
    flags |= {"max_seq_length": 24, "layers": "-1"}
    script_runner.run(
        "extract_features.py", folder, output_file=folder / "out.jsonl", **flags
    ).check()


def test_a_cross_encoder_from_elsewhere_answers(tmp_path):
    """Of one output, LABEL_0, and no problem_type, as those of MS MARCO."""
    config = modeling.BertConfig.from_dict(TINY)
    model = modeling.BertClassifier(config, 1, seed=1)
    model.build()
    tokenizer = FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    theirs = tmp_path / "theirs"
    modeling.save_huggingface(model, theirs, tokenizer=tokenizer)
    config = json.loads((theirs / "config.json").read_text())
    assert config["id2label"] == {"0": "LABEL_0"}
    assert "problem_type" not in config
    script_runner.run_each(
        "run_classifier.py",
        tmp_path,
        parse_flags("--init_checkpoint=theirs --export_format=litert")
        | {"max_seq_length": 32},
        [
            {"task_name": name, "output_dir": name, "export_dir": f"{name}_it"}
            for name in ("ranking", "csv")
        ],
    )
    logits = []
    for text in TEXTS:
        tokens = ["[CLS]", *tokenizer.tokenize("the boat"), "[SEP]"]
        first = len(tokens)
        tokens += [*tokenizer.tokenize(text), "[SEP]"]
        ids = np.int32([tokenizer.convert_tokens_to_ids(tokens)])
        segments = np.int32([np.arange(len(tokens)) >= first])
        outputs = model({"input_ids": ids, "segment_ids": segments})
        logits.append(float(outputs[0, 0]))
    for name in ("ranking", "csv"):
        found = serving.load(tmp_path / f"{name}_it").rerank("the boat", TEXTS)
        ranking = {each["index"]: each["score"] for each in found["ranking"]}
        assert [ranking[i] for i in range(4)] == pytest.approx(logits, abs=1e-4)


def test_a_classifier_from_elsewhere_reads_the_texts_that_are_named(tmp_path):
    model = modeling.BertClassifier(modeling.BertConfig.from_dict(TINY), 2)
    model.build()
    tokenizer = FullTokenizer(script_runner.SAMPLES / "vocab.txt")
    labels = ["no", "yes"]
    modeling.save_huggingface(model, tmp_path / "theirs", labels, tokenizer)
    script_runner.run_each(
        "run_classifier.py",
        tmp_path,
        parse_flags("--init_checkpoint=theirs --export_format=litert")
        | {"max_seq_length": 32, "task_name": "csv"},
        [
            {"output_dir": "a", "export_dir": "export1"},
            {"output_dir": "b", "export_dir": "export2", "text_b_column": "b"},
        ],
    )
    for number in (1, 2):
        task = serving.load(tmp_path / f"export{number}").task()
        assert len(predict.to_requests(task, ["one", "two"])) == 3 - number


def test_vectors_have_no_head(trained, tmp_path):
    run = trained["ranking"] / "run"
    flags = parse_flags("--task_name=embedding --max_seq_length=24")
    flags |= {"data_dir": trained["scores"], "vocab_file": run / "vocab.txt"}
    flags["output_dir"] = "out"
    evaluating = f"--do_eval --init_checkpoint={run}"
    done = script_runner.run(
        "run_classifier.py", tmp_path, **flags, **parse_flags(evaluating)
    ).check()
    # A classifier has vectors as well.
    assert "outputs are random" not in done.stderr
    assert "spearman" in read_results(tmp_path / "out")
    case = f"--do_train --init_checkpoint={run} --bilstm", "--bilstm"
    check_errors(tmp_path, "run_classifier.py", flags, [case])
