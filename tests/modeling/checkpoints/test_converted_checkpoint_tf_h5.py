"""tf_model.h5 of transformers 4."""

import json
import shutil

import h5py
import numpy as np
import pytest

import modeling
from data.text.tokenization import FullTokenizer
from model_folders.formats.huggingface_config import CLASS_OF_ARCHITECTURE
from model_folders.reading.preset import read_preset
from tests.support import script_runner
from tests.support.paths import ROOT
from tests.support.weights.odd_datasets import ODD_DATASETS

WEIGHTS = ROOT / "tests/testdata/weights"
# Small models of each class, which record.py saved, and their outputs.
RECORDED = WEIGHTS / "transformers4"
OUTPUTS = dict(np.load(RECORDED / "outputs.npz"))
# A classifier with a vocabulary, which transformers 4.57 saved.
CLASSIFIER = RECORDED / "cls"
NAMES = {
    "input_ids": "input_ids",
    "attention_mask": "input_mask",
    "token_type_ids": "segment_ids",
}
LIMIT = 1e-5
QUERY = (
    "bert/tf_bert_for_sequence_classification/bert/encoder/layer_._1"
    "/attention/self/query/kernel:0"
)
HEAD = "classifier/tf_bert_for_sequence_classification/classifier/kernel:0"


def features(rows=slice(None)):
    return {ours: OUTPUTS[theirs][rows] for theirs, ours in NAMES.items()}


def assert_near(value, name):
    np.testing.assert_allclose(value, OUTPUTS[name], rtol=0, atol=LIMIT)


def load_recorded(name):
    head = CLASS_OF_ARCHITECTURE[name]
    assert read_preset(RECORDED / name).model_class == head
    return getattr(modeling, head).from_preset(RECORDED / name)


def test_a_classifier_computes_what_transformers_computes():
    model = modeling.BertClassifier.from_preset(CLASSIFIER)
    inputs = np.load(WEIGHTS / "modelgarden/in.npz")
    logits = model(
        {
            "input_ids": inputs["ids"],
            "input_mask": inputs["mask"],
            "segment_ids": inputs["seg"],
        }
    )
    expected = np.load(RECORDED / "cls.npz")["logits"]
    np.testing.assert_allclose(logits, expected, rtol=0, atol=LIMIT)
    assert model.num_labels == 3
    assert model.config.hidden_act == "gelu_erf"
    tokenizer = FullTokenizer.from_preset(CLASSIFIER)
    assert tokenizer.do_lower_case
    assert len(tokenizer.tokens) == 1600


@pytest.mark.parametrize(
    "name", ["BertForSequenceClassification", "BertForTokenClassification"]
)
def test_labels_of_texts_and_of_tokens_are_those_of_transformers(name):
    assert_near(load_recorded(name)(features()), f"{name}/logits")


def test_the_encoder_computes_what_transformers_computes():
    outputs = load_recorded("BertModel")(features())
    hidden = outputs["sequence_output"]
    assert_near(hidden, "BertModel/last_hidden_state")
    assert_near(outputs["pooled_output"], "BertModel/pooler_output")


def test_answers_are_those_of_transformers():
    name = "BertForQuestionAnswering"
    outputs = load_recorded(name)(features())
    for part in ("start_logits", "end_logits"):
        assert_near(outputs[part], f"{name}/{part}")


def test_choices_are_those_of_transformers():
    name = "BertForMultipleChoice"
    choices = {
        name: value.reshape(2, 2, -1) for name, value in features().items()
    }
    assert_near(load_recorded(name)(choices), f"{name}/logits")


def compute_outputs(model):
    num_rows, length = OUTPUTS["input_ids"].shape
    positions = np.tile(np.arange(length), (num_rows, 1))
    return model(features() | {"masked_lm_positions": positions})


def test_both_heads_of_pretraining_are_those_of_transformers():
    name = "BertForPreTraining"
    outputs = compute_outputs(load_recorded(name))
    words = outputs["masked_lm_logits"].numpy().reshape(4, 12, -1)
    assert_near(words, f"{name}/prediction_logits")
    following = outputs["next_sentence_logits"]
    assert_near(following, f"{name}/seq_relationship_logits")


def test_a_model_may_have_only_the_head_of_words():
    name = "BertForMaskedLM"
    words = compute_outputs(load_recorded(name))["masked_lm_logits"].numpy()
    assert_near(words.reshape(4, 12, -1), f"{name}/logits")


def test_a_model_may_have_only_the_head_of_next_sentences():
    name = "BertForNextSentencePrediction"
    following = compute_outputs(load_recorded(name))["next_sentence_logits"]
    assert_near(following, f"{name}/logits")


def copy_model(source, tmp_path):
    return shutil.copytree(source, tmp_path / "model")


def test_a_model_in_several_files_is_that_of_one_file():
    model = modeling.BertPretrainer.from_preset(RECORDED / "sharded")
    same = load_recorded("BertForPreTraining")
    for one, other in zip(model.weights, same.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_weight_that_its_file_lacks_is_named(tmp_path):
    folder = copy_model(RECORDED / "sharded", tmp_path)
    index = folder / "tf_model.h5.index.json"
    assert modeling.find_checkpoint(folder) == str(index)
    places = json.loads(index.read_text())
    files = sorted({*places["weight_map"].values()})
    name = min(
        name for name, file in places["weight_map"].items() if file == files[0]
    )
    places["weight_map"][name] = files[1]
    index.write_text(json.dumps(places))
    with pytest.raises(OSError, match=f"{files[1]} lacks {name}"):
        modeling.check_checkpoint(folder)


def test_safetensors_are_preferred_to_tf_model_h5(tmp_path):
    folder = copy_model(CLASSIFIER, tmp_path)
    file = folder / "tf_model.h5"
    assert modeling.find_checkpoint(folder) == str(file)
    model = modeling.BertClassifier.from_preset(file)
    modeling.save_checkpoint(model, folder / "bert_model.ckpt")
    assert modeling.find_checkpoint(folder) == str(file)
    (folder / "model.safetensors").write_bytes(
        (
            ROOT / "tests/testdata/huggingface/BertModel/model.safetensors"
        ).read_bytes()
    )
    checkpoint = modeling.find_checkpoint(folder)
    assert checkpoint == str(folder / "model.safetensors")


def test_a_configuration_of_2019_states_no_architecture(tmp_path):
    folder = copy_model(CLASSIFIER, tmp_path)
    config = folder / "config.json"
    values = json.loads(config.read_text())
    for name in ("architectures", "model_type"):
        del values[name]
    config.write_text(json.dumps(values))
    model = modeling.BertClassifier.from_preset(folder)
    assert model.num_labels == 3
    assert model.config.hidden_act == "gelu_erf"


# The functions change a file. The second value is a part of the message.
def link_of_a_group(file):
    file["bert/more"] = h5py.ExternalLink("other.h5", "/")


def store_too_large(file):
    del file[QUERY]
    file.create_dataset(QUERY, (2**40, 2**20), "f4", chunks=(1, 2**20))
    file[QUERY][0] = 1


def change_type(file):
    del file[QUERY]
    file[QUERY] = np.zeros((32, 32), "i4")


def delete_query(file):
    del file[QUERY]


def store_nan(file):
    file[QUERY][3, 4] = np.nan


def name_in_lines(file):
    file["bert/a\nb"] = np.zeros(2, "f4")


def store_another_head(file):
    file["scorer/model/scorer/kernel:0"] = np.zeros((32, 7), "f4")


def store_another_copy(file):
    word = "bert/embeddings/word_embeddings/weight:0"
    file[f"mlm___cls/model/{word}"] = np.zeros((1600, 32), "f4")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (link_of_a_group, "bert/more is a link to another place"),
        (store_too_large, "query/kernel:0 is stored in chunks"),
        (change_type, "query/kernel in .* type int32"),
        (
            delete_query,
            r"lacks bert/encoder/layer_1/attention/self/query/kernel with "
            r"shape \[32, 32\]",
        ),
        (store_nan, r"query/kernel in .* nan at \[3, 4\]"),
        (name_in_lines, r"contains 'bert/a.nb' with shape \[2\]"),
        (store_another_head, r"scorer/kernel:0' with shape \[32, 7\]"),
        (store_another_copy, "word_embeddings/weight:0' twice"),
    ],
)
def test_one_line_says_what_a_file_contains(tmp_path, change, says):
    folder = copy_model(CLASSIFIER, tmp_path)
    with h5py.File(folder / "tf_model.h5", "r+") as file:
        change(file)
    with pytest.raises(ValueError, match=says) as caught:
        modeling.BertClassifier.from_preset(folder)
    message = str(caught.value)
    assert "tf_model.h5" in message
    assert "\n" not in message


@pytest.mark.parametrize(("change", "says"), ODD_DATASETS)
def test_a_dataset_that_is_stored_in_an_odd_way_is_named(
    tmp_path, change, says
):
    folder = copy_model(CLASSIFIER, tmp_path)
    with h5py.File(folder / "tf_model.h5", "r+") as file:
        change(file, QUERY)
    with pytest.raises(ValueError, match=f"query/kernel:0 {says}") as caught:
        modeling.BertClassifier.from_preset(folder)
    message = str(caught.value)
    assert "tf_model.h5" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"text",
        lambda content: content[:1000],
        lambda content: content[:200000],
    ],
)
def test_damaged_files_are_named(tmp_path, damage):
    folder = copy_model(CLASSIFIER, tmp_path)
    file = folder / "tf_model.h5"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(OSError, match=f"{file} cannot be read, ") as caught:
        modeling.check_checkpoint(folder)
    assert "\n" not in str(caught.value)


def test_groups_that_contain_each_other_do_not_hang(tmp_path):
    folder = copy_model(CLASSIFIER, tmp_path)
    with h5py.File(folder / "tf_model.h5", "r+") as file:
        file["bert/again"] = file["/"]
    assert modeling.BertClassifier.from_preset(folder).num_labels == 3


@pytest.mark.slow
def test_run_classifier_starts_from_the_folder(tmp_path):
    rows = [
        f"{number} {word},{word}"
        for number in range(40)
        for word in ("boat", "farm", "inn")
    ]
    (tmp_path / "texts.csv").write_text("\n".join(["text,label", *rows]))
    script_runner.run(
        "run_classifier.py",
        tmp_path,
        data_file="texts.csv",
        init_checkpoint=CLASSIFIER,
        output_dir="run",
        max_seq_length=12,
        num_train_epochs=1,
    ).check()
    assert (tmp_path / "run/model.ckpt-3.index").is_file()


@pytest.mark.slow
def test_the_folder_is_exported(tmp_path):
    script_runner.run(
        "tools.export", tmp_path, model=CLASSIFIER, export_dir="export"
    ).check()
    assert (tmp_path / "export/saved_model.pb").is_file()


@pytest.mark.slow
def test_the_folder_is_converted(tmp_path):
    script_runner.run(
        "tools.convert_checkpoint",
        tmp_path,
        init_checkpoint=CLASSIFIER,
        output_dir="new",
    ).check()
    model = modeling.BertClassifier.from_preset(CLASSIFIER)
    copy = modeling.BertClassifier.from_preset(tmp_path / "new")
    for weight, copied in zip(model.weights, copy.weights, strict=True):
        np.testing.assert_array_equal(weight, copied)
