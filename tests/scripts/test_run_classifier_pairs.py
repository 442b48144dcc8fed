"""run_classifier.py on pairs to embed, and passages to rank."""

import numpy as np
import pytest

import modeling
import serving
from data.text.tokenization import FullTokenizer
from files.json_files import read_json
from serving import engines
from serving.predict.input_rows import to_requests
from tests.support import script_runner
from tests.support.log_lines import printed_warnings
from tests.support.models import TINY
from tests.support.output_files import read_json_lines, read_results
from tests.support.paths import SAMPLES
from tests.support.script_runner import split_flags
from tests.support.tables.csv_files import write_csv
from tests.support.tasks.task_files import EXCEL
from tests.support.tasks.task_runs import fine_tuning_flags, run_task_test

pytestmark = pytest.mark.slow
TOKENIZER = FullTokenizer(SAMPLES / "vocab.txt")
TEXTS = ["the river", "a boat sails", "the sky is blue", "an old lamp"]


PAIRS = [(first, second) for first in TEXTS for second in TEXTS]
SCORED_PAIRS = [(*pair, int(pair[0] == pair[1])) for pair in PAIRS]
CLOSE_PAIRS = [(text, f"{text} now") for text in TEXTS]
# {name of a run: (header, rows) of its table}.
TABLES = {
    "ranking": (["query", "passage", "relevance"], SCORED_PAIRS),
    "close": (["text", "text_b"], CLOSE_PAIRS),
    "scores": (["text", "text_b", "score"], SCORED_PAIRS),
}


@pytest.fixture(scope="module")
def trained_run(tmp_path_factory, tiny):
    """{name in TABLES: folder of its run and export}. No test changes them."""
    folder = tmp_path_factory.mktemp("pairs")
    for name, (header, rows) in TABLES.items():
        for set_name in ("train", "dev", "test"):
            write_csv(folder / name / f"{set_name}.csv", header, rows, EXCEL)

    def flags_of(name, task_name):
        return fine_tuning_flags(
            folder / name,
            tiny / "one_block",
            task_name=task_name,
            num_train_epochs=1,
            learning_rate=1e-3,
            export_dir=folder / name / "served",
            export_format="litert",
        )

    run_task_test(
        "run_classifier.py", flags_of("ranking", "ranking"), "mrr_10", "litert"
    )
    for name in ("close", "scores"):
        # Without scores, there is nothing to predict.
        flags = flags_of(name, "embedding") | {"do_predict": name == "scores"}
        script_runner.run("run_classifier.py", folder, **flags).check()
    return {name: folder / name for name in TABLES}


def test_passages_are_ranked(trained_run):
    entries = read_json_lines(trained_run["ranking"] / "run/predictions.jsonl")
    bert = serving.load(trained_run["ranking"] / "served")
    ranking = bert.rerank(TEXTS[0], TEXTS)["ranking"]
    order = sorted(range(4), key=lambda i: -entries[i]["label"])
    assert [entry["index"] for entry in ranking] == order
    assert [entry["score"] for entry in ranking] == pytest.approx(
        [entries[i]["label"] for i in order], abs=1e-5
    )


def test_vectors_are_trained_and_exported(trained_run):
    assert "recall_1" in read_results(trained_run["close"] / "run")
    folder = trained_run["scores"]
    bert = serving.load(folder / "served")
    assert bert.text_task_names == ["embed", "tokenize"]
    entries = read_json_lines(folder / "run/predictions.jsonl")
    first, second = (
        bert.embed([entry[name] for entry in entries])
        for name in ("text_a", "text_b")
    )
    for entry, reply_a, reply_b in zip(entries, first, second, strict=True):
        cosine = np.dot(reply_a["mean_normalized"], reply_b["mean_normalized"])
        assert entry["label"] == pytest.approx(cosine, abs=1e-4)


def test_a_model_that_compares_texts_starts_any_other_encoder(
    trained_run, tmp_path
):
    (tmp_path / "text.txt").write_text("the boat\n")
    script_runner.run(
        "extract_features.py",
        tmp_path,
        init_checkpoint=trained_run["scores"] / "run",
        input_file="text.txt",
        output_file="out.jsonl",
        max_seq_length=24,
        layers="-1",
    ).check()


def export_from_elsewhere(folder, changes, *arguments):
    """Exports a random classifier, in Hugging Face's format, for each change.

    Returns the model, and the exports.
    """
    model = modeling.BertClassifier(modeling.BertConfig(**TINY), *arguments)
    model.build()
    labels = ["no", "yes"] if model.num_labels == 2 else None
    modeling.save_huggingface(
        model, folder / "theirs", tokenizer=TOKENIZER, labels=labels
    )
    flags = split_flags("--init_checkpoint=theirs --export_format=litert")
    flags["max_seq_length"] = 32
    changes = [
        {"output_dir": f"run{i}", "export_dir": f"export{i}"} | change
        for i, change in enumerate(changes)
    ]
    script_runner.run_each("run_classifier.py", folder, flags, changes)
    return model, [
        serving.load(folder / change["export_dir"]) for change in changes
    ]


def test_a_cross_encoder_from_elsewhere_answers(tmp_path):
    """Cross-encoders of MS MARCO have one output, LABEL_0."""
    changes = [{"task_name": "ranking"}, {"task_name": "csv"}]
    model, exports = export_from_elsewhere(tmp_path, changes, 1)
    config = read_json(tmp_path / "theirs/config.json")
    assert config["id2label"] == {"0": "LABEL_0"}
    assert "problem_type" not in config
    first = ["[CLS]", *TOKENIZER.tokenize("the boat"), "[SEP]"]
    inputs = [
        engines.NetworkInput(
            TOKENIZER.convert_tokens_to_ids(tokens), len(first)
        )
        for tokens in (
            [*first, *TOKENIZER.tokenize(text), "[SEP]"] for text in TEXTS
        )
    ]
    logits = model(engines.pad_batch(inputs, 32))[:, 0].numpy()
    for export in exports:
        reply = export.rerank("the boat", TEXTS)
        scores = {text["index"]: text["score"] for text in reply["ranking"]}
        assert [scores[index] for index in range(4)] == pytest.approx(
            logits, abs=1e-4
        )


def test_a_classifier_from_elsewhere_reads_the_texts_that_are_named(tmp_path):
    changes = [{"task_name": "csv"}, {"task_name": "csv", "text_b_column": "b"}]
    _, exports = export_from_elsewhere(tmp_path, changes, 2)
    num_requests = [
        len(to_requests(export.text_task(), ["one", "two"]))
        for export in exports
    ]
    assert num_requests == [2, 1]


def test_vectors_of_a_classifier_are_scored_without_a_warning(
    trained_run, tmp_path
):
    run = trained_run["ranking"] / "run"
    done = script_runner.run(
        "run_classifier.py",
        tmp_path,
        task_name="embedding",
        data_dir=trained_run["scores"],
        vocab_file=run / "vocab.txt",
        init_checkpoint=run,
        output_dir="out",
        max_seq_length=24,
        do_eval=True,
    ).check()
    # A classifier has vectors as well.
    assert not printed_warnings(done)
    assert "spearman" in read_results(tmp_path / "out")
