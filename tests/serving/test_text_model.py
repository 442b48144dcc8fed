"""serving.load: exported models in Python."""

import json
import shutil

import pytest

import serving
from tests.support.checkpoints import assert_same
from tests.support.serving.exports import LENGTH, TEXTS, TOKENIZER
from tests.support.serving.stub_engines import NumpyEngine

PASSAGE = "\U0001f6a2 The light\n\n is kept  by\tAnna, caf\u00e9\r\nHolm. Who?"


def is_plain(value):
    """Returns whether a value is Python's own throughout, as JSON has it."""
    return json.loads(json.dumps(value)) == value


@pytest.fixture(scope="module")
def answers(load_text_model):
    """The answers to two questions about PASSAGE, with their n-best lists."""
    return load_text_model("squad").answer(
        ["Who?", "What?"], PASSAGE, n_best=12
    )


def test_the_offsets_of_an_answer_point_to_it_in_the_passage(answers):
    data = PASSAGE.encode()
    texts = []
    for entry in [
        *answers,
        *(entry for answer in answers for entry in answer["n_best"]),
    ]:
        text = PASSAGE[entry["start"] : entry["end"]]
        place = slice(entry["start_byte"], entry["end_byte"])
        assert data[place].decode() == text
        # It has single spaces, as Google's answers do: see docs/differences.md.
        assert " ".join(text.split()) == entry["answer"]
        texts.append(text)
    assert any("\n" in text for text in texts)


def test_an_answer_contains_only_plain_python(answers):
    assert is_plain(answers)


def test_the_n_best_answers_begin_with_the_most_probable(answers):
    assert len(answers) == 2
    for answer in answers:
        probabilities = [entry["probability"] for entry in answer["n_best"]]
        assert 1 < len(probabilities) <= 12
        assert probabilities == sorted(probabilities, reverse=True)


def test_the_answer_is_one_of_the_n_best(answers):
    for answer in answers:
        texts = [entry["answer"] for entry in answer["n_best"]]
        assert answer["answer"] in texts


def test_a_question_has_the_same_answer_alone_and_among_others(
    load_text_model, answers
):
    expected = {**answers[0]}
    del expected["n_best"]
    assert_same(
        load_text_model("squad").answer("Who?", PASSAGE), expected, 1e-4
    )


@pytest.mark.parametrize(
    ("kind", "method", "texts", "field"),
    [
        pytest.param(
            "classifier",
            "classify",
            (["a"], ["b", "c"]),
            "text_a, text_b",
            id="more second texts",
        ),
        pytest.param(
            "classifier", "classify", ("\ud800",), "'text_a'", id="a surrogate"
        ),
        pytest.param(
            "pretraining", "fill_mask", ("a",), "'text'", id="no mask"
        ),
    ],
)
def test_an_unanswerable_text_is_named(
    kind, method, texts, field, load_text_model
):
    with pytest.raises(ValueError, match=field):
        getattr(load_text_model(kind), method)(*texts)


def test_a_mask_beyond_the_length_of_the_model_is_counted(load_text_model):
    far = load_text_model("pretraining").fill_mask("boat " * 40 + "[MASK]")
    assert (far["masks"], far["num_masks_cut"]) == ([], 1)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=tmp_path.name):
        serving.load(tmp_path)


def test_a_model_over_ids_has_no_tasks(load_text_model):
    model = load_text_model("multiple_choice")
    assert model.text_task_names == []
    assert "input_ids" in model.engine.inputs


def test_a_warm_up_runs_each_length_once(load_text_model, monkeypatch):
    model = load_text_model("features")
    engine = NumpyEngine()
    monkeypatch.setattr(model, "engine", engine)
    model.warm_up()
    assert engine.shapes == [(1, 8), (1, 16), (1, 24)]


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.classify("A boat"),
        lambda model: model.tokenizer,
        lambda model: model.max_seq_length,
        lambda model: model.warm_up(),
        lambda model: model.text_task(),
    ],
    ids=["classify", "tokenizer", "max_seq_length", "warm_up", "text_task"],
)
def test_a_model_over_ids_says_that_it_accepts_no_text(load_text_model, ask):
    model = load_text_model("multiple_choice")
    with pytest.raises(ValueError, match="accepts no text"):
        ask(model)


@pytest.fixture
def single_texts(saved_models_folder, tmp_path):
    """A classifier of single texts."""
    path = tmp_path / "model"
    shutil.copytree(saved_models_folder / "classifier", path)
    (described,) = path.rglob("model.json")
    content = json.loads(described.read_text())
    content["origin"]["settings"] = {"num_texts": 1}
    # labels.txt names them too.
    content["task"]["labels"] = None
    described.write_text(json.dumps(content))
    return serving.load(path)


def test_a_model_of_single_texts_has_one_field(single_texts):
    assert single_texts.text_task("classify").field_names == ["text"]
    assert single_texts.text_task("tokenize").field_names == ["text"]


def test_a_model_of_single_texts_accepts_an_empty_second(single_texts):
    expected = single_texts.classify("A boat")
    assert single_texts.classify("A boat", "") == expected


@pytest.mark.parametrize("method", ["classify", "tokenize"])
def test_a_model_of_single_texts_accepts_no_second(single_texts, method):
    with pytest.raises(ValueError, match="text_b"):
        getattr(single_texts, method)("A boat", "The sea")


# {method: the kind of export that has it, its fields}
METHODS = {
    "classify": ("classifier", 1),
    "answer": ("squad", 2),
    "tag": ("ner", 1),
    "fill_mask": ("pretraining", 1),
    "next_sentence": ("pretraining", 2),
    "embed": ("features", 1),
    "tokenize": ("features", 1),
}


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_text_has_an_empty_reply(method, load_text_model):
    """The network would guess one."""
    kind, count = METHODS[method]
    ask = getattr(load_text_model(kind), method)
    assert ask(*[[]] * count) == []
    nothing = ["", " \t\n", "\u3000"]
    assert ask(*[nothing] * count) == [{}, {}, {}]
    assert ask(*[""] * count) == {}


def test_a_question_about_an_empty_passage_has_no_answer(load_text_model):
    result = load_text_model("squad").answer("Who?", "")
    assert (result["answer"], result["start"]) == ("", -1)


# [CLS] and [SEP] of a text.
NUM_SPECIAL = 2
# Some of them have just one WordPiece more than the model reads.
LONG_TEXTS = [
    *TEXTS,
    "\u6e2f" * 30,
    *("a " * (LENGTH - number) for number in range(1, 6)),
]


def count_tokens(text):
    """Returns the number of WordPieces of a text, its masks included."""
    parts = [TOKENIZER.tokenize(part) for part in text.split("[MASK]")]
    num_masks = len(parts) - 1
    return sum(map(len, parts)) + num_masks


def check_cut(replies, lengths):
    """Checks that replies count the WordPieces beyond the model's length."""
    expected = [max(length - LENGTH, 0) for length in lengths]
    counts = [reply.get("num_wordpieces_cut", 0) for reply in replies]
    assert counts == expected
    assert {*counts} >= {0, 1}
    assert max(counts) > 100


def test_cut_wordpieces_of_a_text_are_counted(load_text_model):
    lengths = [NUM_SPECIAL + count_tokens(text) for text in LONG_TEXTS]
    check_cut(load_text_model("features").embed(LONG_TEXTS), lengths)


def test_cut_wordpieces_of_a_pair_are_counted(load_text_model):
    seconds = [*LONG_TEXTS[3:], *LONG_TEXTS[:3]]
    lengths = []
    for text, second in zip(LONG_TEXTS, seconds, strict=True):
        # An empty second text has no [SEP] of its own.
        num_special = NUM_SPECIAL + bool(count_tokens(second))
        lengths.append(num_special + count_tokens(text) + count_tokens(second))
    check_cut(
        load_text_model("classifier").classify(LONG_TEXTS, seconds), lengths
    )


def test_cut_wordpieces_around_masks_are_counted(load_text_model):
    texts = [f"[MASK]{text}[MASK] [MASK]" for text in LONG_TEXTS]
    lengths = [NUM_SPECIAL + count_tokens(text) for text in texts]
    check_cut(load_text_model("pretraining").fill_mask(texts), lengths)


def test_the_unread_end_of_a_very_long_text_is_not_tokenized(
    load_text_model, monkeypatch
):
    bert = load_text_model("classifier")
    tokenize = bert.tokenizer.tokenize_around
    num_letters = []

    def count(text, words):
        num_letters.append(len(text))
        return tokenize(text, words)

    monkeypatch.setattr(bert.tokenizer, "tokenize_around", count)
    text = ("harbor" * 12 + " ") * 20_000
    result = [bert.classify(part) for part in (text[:7_300], text)]
    assert result[1].pop("num_wordpieces_cut") > 1000
    assert result[0].pop("num_wordpieces_cut") > 1000
    assert_same(*result)
    assert 7_300 < sum(num_letters) < 30_000


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        (
            "variables/variables.data-00000-of-00001",
            lambda content: content[:-99],
        ),
        ("variables/variables.index", lambda content: b""),
        ("saved_model.pb", lambda content: b"damaged"),
    ],
)
def test_a_damaged_export_is_refused(
    tmp_path, saved_models_folder, file, damage
):
    path = tmp_path / "damaged"
    shutil.copytree(saved_models_folder / "features", path)
    (path / file).write_bytes(damage((path / file).read_bytes()))
    with pytest.raises(OSError, match="damaged"):
        serving.load(path)


def test_a_vocabulary_other_than_the_recorded_one_is_refused(
    tmp_path, saved_models_folder
):
    path = tmp_path / "model"
    shutil.copytree(saved_models_folder / "features", path)
    (vocab,) = path.rglob("vocab.txt")
    (described,) = path.rglob("model.json")
    content = json.loads(described.read_text())
    content["origin"]["settings"] = {"tokenizer": TOKENIZER.identity}
    described.write_text(json.dumps(content))
    assert serving.load(path).embed("a")
    first, second, *rest = vocab.read_text().splitlines()
    lines = [*rest[:-2], *rest[:-3:-1], first, second]
    vocab.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"vocab\.txt"):
        serving.load(path)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        ("classifier", "max_seq_length"),
        ("classifier", "output_mode"),
        ("ner", "max_seq_length"),
        ("squad", "n_best_size"),
        ("squad", "doc_stride"),
        ("features", "max_seq_length"),
    ],
)
@pytest.mark.parametrize("is_null", [False, True])
def test_a_missing_setting_is_an_error_at_loading(
    kind, setting, is_null, saved_models_folder, tmp_path
):
    shutil.copytree(saved_models_folder / kind, tmp_path / "model")
    (described,) = tmp_path.rglob("model.json")
    content = json.loads(described.read_text())
    del content["task"][setting]
    if is_null:
        content["task"][setting] = None
    described.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=rf"model\.json: .*`{setting}`"):
        serving.load(tmp_path / "model")
