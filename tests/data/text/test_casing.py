"""Which models lower-case text: by flags, files, names and vocabularies."""

import contextlib
import json

import pytest

from data.text import tokenization
from data.text.casing import chosen_casing
from model_folders.formats.huggingface_tokenizer import read_stated_casing
from model_folders.reading.preset import Preset
from tests.support import golden
from tests.support.paths import SAMPLES


@pytest.mark.parametrize(
    ("name", "is_cased"),
    [
        ("cased", True),
        ("uncased", False),
        ("chinese", False),
    ],
)
def test_the_casing_of_a_released_vocabulary_is_known(name, is_cased):
    path = golden.shared_path(f"data/vocab/{name}.txt")
    assert len(path.read_bytes()) > 100_000
    error = pytest.raises(ValueError, match="--do_lower_case")
    with error if is_cased else contextlib.nullcontext():
        assert tokenization.load_tokenizer(path).do_lower_case


@pytest.mark.parametrize(
    ("do_lower_case", "is_set_by_user", "chosen"),
    [(True, False, None), (True, True, True), (False, False, False)],
)
def test_only_the_default_of_the_flag_leaves_the_casing_open(
    do_lower_case, is_set_by_user, chosen
):
    casing = chosen_casing(do_lower_case, is_set_by_user=is_set_by_user)
    assert casing is chosen


def casing_of(folder, words=(), files=None, **flags):
    """Returns the casing that a command takes; `flags` are those given.

    The vocabulary is that of the samples, and `words`. `files` are settings to
    write, {path in the folder: contents}.
    """
    vocab_file = folder / "vocab.txt"
    tokens = (SAMPLES / "vocab.txt").read_text("utf-8").splitlines()
    vocab_file.write_text("\n".join([*tokens, *words]), "utf-8")
    for name, contents in (files or {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(contents))
    preset = None
    if weights := flags.get("weights"):
        place = folder / "model"
        place.mkdir(exist_ok=True)
        stated = read_stated_casing(place)
        preset = Preset(str(place), weights_path=weights, stated_casing=stated)
    return tokenization.load_tokenizer(
        vocab_file, flags.get("do_lower_case"), preset
    ).do_lower_case


CASED = [f"Word{number}" for number in range(200)]
# The vowel signs of Hindi are accents, which lower-casing strips.
HINDI = ["में", "है", "हिन्दी", "की", "की", "ओस्लो"] * 5


@pytest.mark.parametrize("words", [CASED, HINDI])
def test_a_vocabulary_that_lower_casing_changes_asks_for_the_flag(
    tmp_path, words
):
    with pytest.raises(ValueError, match="lower-casing would change"):
        casing_of(tmp_path, words)
    nothing = {"tokenizer_config.json": {"do_lower_case": None}}
    assert casing_of(tmp_path, words, nothing, do_lower_case=False) is False
    # The casing that a user sets holds, whatever the words are.
    assert casing_of(tmp_path, words, do_lower_case=True) is True
    # Special words are no words, and a few cased words are no cased model.
    many = [f"[X{n}]" for n in range(200)] + words[:10]
    assert casing_of(tmp_path, many) is True


@pytest.mark.parametrize("words", [[], CASED], ids=["small", "cased"])
@pytest.mark.parametrize(
    ("path", "weights"),
    [
        ("tokenizer_config.json", None),
        ("model/tokenizer_config.json", "model"),
        ("model/tokenizer_config.json", "model/bert_model.ckpt"),
    ],
)
@pytest.mark.parametrize("stated", [False, True])
def test_the_casing_that_the_folder_states_is_used(
    tmp_path, words, path, weights, stated
):
    flags = {"weights": str(tmp_path / weights)} if weights else {}
    args = tmp_path, words, {path: {"do_lower_case": stated}}
    assert casing_of(*args, **flags) is stated
    assert casing_of(*args, **flags, do_lower_case=stated) is stated
    with pytest.raises(ValueError, match=r"tokenizer_config\.json"):
        casing_of(*args, **flags, do_lower_case=not stated)


RELEASE = "cased_L-12_H-768_A-12"


@pytest.mark.parametrize(
    "weights", [f"{RELEASE}/", f"x/{RELEASE}/bert_model.ckpt"]
)
def test_the_name_of_a_release_states_its_casing(tmp_path, weights):
    assert casing_of(tmp_path, CASED, weights=weights) is False
    with pytest.raises(ValueError, match=r"to True, but .* to False"):
        casing_of(tmp_path, weights=weights, do_lower_case=True)


def test_a_folder_inside_that_of_a_release_states_no_casing(tmp_path):
    assert casing_of(tmp_path, weights=f"{RELEASE}/mine") is True


def test_two_folders_that_contradict_each_other_are_an_error(tmp_path):
    files = {
        "tokenizer_config.json": {"do_lower_case": True},
        "model/tokenizer_config.json": {"do_lower_case": False},
    }
    with pytest.raises(
        ValueError, match=r"model/tokenizer_config\.json"
    ) as raised:
        casing_of(tmp_path, files=files, weights=str(tmp_path / "model"))
    # Nobody set the flag.
    assert "--do_lower_case" not in str(raised.value)


@pytest.mark.parametrize("mark", ["\u2581", "\u0120"])
def test_a_vocabulary_without_wordpieces_is_refused(tmp_path, mark):
    # A few such words are in released vocabularies.
    assert casing_of(tmp_path, [f"{mark}a"]) is True
    with pytest.raises(ValueError, match="200 words"):
        casing_of(tmp_path, [f"{mark}word{n}" for n in range(200)])
