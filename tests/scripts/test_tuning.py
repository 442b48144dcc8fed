"""Thresholds and a temperature, from the dev set to every engine."""

import pytest

from files.json_files import read_json
from serving import engines
from tests import glue_sets, script_runner
from tests.script_runner import parse_flags, read_lines, read_results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny):
    folder = tmp_path_factory.mktemp("tuned")
    glue_sets.write_table(folder / "data")
    formats = ["saved_model"] + [
        form
        for form, module in (
            ("litert", "ai_edge_litert"),
            ("onnx", "onnxruntime"),
            ("openvino", "openvino"),
        )
        if pytest.importorskip(module, reason="needs the runtimes")
    ]
    flags = parse_flags(f"""
        --task_name=csv --data_dir=data --text_column=review
        --label_column=colours --label_separator=| --output_mode=multilabel
        --bert_config_file={tiny}/one_block/bert_config.json
        --vocab_file={script_runner.SAMPLES}/vocab.txt --max_seq_length=16
        --do_train --train_batch_size=8 --learning_rate=2e-3
        --num_train_epochs=6 --max_export_loss=100
        --do_eval --do_predict --output_dir=run --report
        --tune_thresholds --calibrate --id_column=id
        --export_dir=export --export_format={",".join(formats)}
    """)
    script_runner.run("run_classifier.py", folder, **flags).check()
    return folder, flags, formats


def test_scores_and_report_tell_of_them(run):
    folder, *_ = run
    results = read_results(folder / "run")
    assert results["ece"] < results["ece_before"]
    task = read_json(folder / "export/model.json")["task"]
    assert task["temperature"] == pytest.approx(results["temperature"])
    assert task["thresholds"].keys() == {"blue", "red"}
    assert 0.5 not in task["thresholds"].values()
    page = (folder / "run/report.html").read_text()
    assert "Before --calibrate" in page and "threshold" in page
    exported = read_results(folder / "run", "export_eval_results.txt")
    assert len({name.split("_")[0] for name in exported}) == len(run[2])
    for name, value in exported.items():
        expected = results[name.split("_", 2 if "saved" in name else 1)[-1]]
        assert value == pytest.approx(expected, abs=1e-4), name


def test_every_engine_answers_as_the_run_predicts(run):
    import serving

    folder, _, formats = run
    lines = read_lines(folder / "run/predictions.jsonl")
    limits = read_json(folder / "export/model.json")["task"]["thresholds"]
    texts = [line["text_a"] for line in lines]
    assert {*formats} <= {*engines.RUNTIMES}
    for form in formats:
        model = serving.load(folder / "export", engine=form)
        for line, found in zip(lines, model.classify(texts), strict=True):
            chances = found["probabilities"]
            assert chances == pytest.approx(line["probabilities"], abs=1e-3)
            assert found["label"] == line["label"]
            assert found["label"] == [
                n for n in limits if chances[n] > limits[n]
            ]
        # No label is as sure as that.
        for found in model.classify(texts, min_probability=1.0):
            assert found["label"] == []
    graph = serving.load(folder / "export", engine="saved_model").engine
    found = graph.run_signature("classify_text", {"text": texts})["label"]
    names = [[each.decode() for each in row if each] for row in found]
    assert names == [line["label"] for line in lines]
