import gzip
import hashlib
import json
import os
import random
import re
import sys

import numpy as np
import pytest

from data.io import feature_specs, records, text_files, tfrecords, workers
from data.pretraining import instances
from data.pretraining.at_scale import stages, token_store
from data.pretraining.at_scale.job import Job
from data.pretraining.options import InstanceOptions
from data.text import sentences, tokenization
from tests import golden

SAMPLES = golden.ROOT / "tests/testdata/golden"
VOCAB = str(SAMPLES / "vocab/uncased.txt")
CORPUS = sorted(map(str, (SAMPLES / "pretraining_data/corpus").glob("*.txt")))


def create(tmp_path, input_files=CORPUS, num_processes=1, text=None, **options):
    num_shards = options.pop("num_shards", 3)
    boundary_files = options.pop("boundary_files", ())
    job = Job(
        token_store.TextOptions(
            **{"vocab_file": VOCAB, "do_lower_case": True, **(text or {})}
        ),
        InstanceOptions(
            **{
                "max_seq_length": 64,
                "max_predictions_per_seq": 10,
                "dupe_factor": 3,
                **options,
            }
        ),
        tuple(map(str, input_files)),
        tuple(map(str, boundary_files)),
        str(tmp_path / "out"),
        num_shards,
    )
    reported = []
    with workers.WorkerPool(num_processes) as executor:
        manifest, _ = stages.create_shards(
            job,
            executor,
            lambda iterable, total, label: iterable,
            lambda line, is_warning: reported.append((line, is_warning)),
        )
    return manifest, reported


def digests(manifest):
    found = []
    for shard in manifest["shards"]:
        with open(shard["path"], "rb") as file:
            found.append(hashlib.sha256(file.read()).hexdigest())
    return found


def read(manifest, spec=None):
    serialized = [
        record
        for shard in manifest["shards"]
        for record in records.read_records(shard["path"])
    ]
    features = tfrecords.decode(
        serialized, spec or feature_specs.pretraining_features(64, 10)
    )
    return {name: value.numpy() for name, value in features.items()}


def test_blocks_give_each_document_once(tmp_path):
    path = tmp_path / "corpus.txt"
    rng = random.Random(0)
    path.write_text(
        "".join(rng.choice(["ab\n", "c\n", "\n", " \n"]) for _ in range(400))
        + "the end"
    )
    whole = "\n".join(text_files.read_block(path, 0, None)).split("\n\n")
    whole = [text.strip() for text in whole if text.strip()]
    for size in (1, 2, 3, 7, 64, 10000):
        found = []
        for start in range(0, path.stat().st_size, size):
            lines = text_files.read_block(path, start, start + size)
            found += "\n".join(lines).split("\n\n")
        assert [text.strip() for text in found if text.strip()] == whole


def test_store_holds_what_the_original_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(token_store, "BLOCK_BYTES", 300)
    options = token_store.TextOptions(VOCAB, True)
    blocks = token_store.split_to_blocks(CORPUS)
    assert len(blocks) > 5
    parts = [
        (path, token_store.tokenize_block(options, block, path))
        for path, block in (
            (str(tmp_path / str(number)), block)
            for number, block in enumerate(blocks)
        )
    ]
    token_store.merge(parts, str(tmp_path / "store"))
    tokenizer = tokenization.FullTokenizer(VOCAB)
    store = token_store.TokenStore(
        str(tmp_path / "store"), len(tokenizer.vocab)
    )
    expected = [
        document
        for path in CORPUS
        for document in instances.read_documents([path], tokenizer)
    ]
    assert store.num_documents == len(expected)
    for number, document in enumerate(expected):
        offsets = store.offsets(*store.sentences(number))
        assert offsets[0] == store.document_start(number)
        for start, end, tokens in zip(
            offsets[:-1], offsets[1:], document, strict=True
        ):
            codes = store.tokens[start:end]
            assert tokenizer.convert_ids_to_tokens(codes & 0x7FFF) == tokens
            goes_on = [token.startswith("##") for token in tokens]
            assert (codes >> 15).tolist() == goes_on
    store.release()


def test_same_bytes_for_any_number_of_processes(tmp_path):
    one, _ = create(tmp_path / "1", num_processes=1)
    two, _ = create(tmp_path / "2", num_processes=2)
    assert digests(one) == digests(two)
    assert one["statistics"] == two["statistics"]
    assert not os.path.exists(tmp_path / "1" / "out.work")
    other, _ = create(tmp_path / "3", random_seed=7)
    assert digests(one) != digests(other)
    with open(tmp_path / "1" / "out.manifest.json") as file:
        assert json.load(file) == one


def test_instances_are_pairs_of_the_corpus(tmp_path):
    manifest, _ = create(tmp_path, dynamic_masking=True, short_seq_prob=0.3)
    spec = feature_specs.unmasked_features(64)
    features = read(manifest, spec)
    tokenizer = tokenization.FullTokenizer(VOCAB)
    documents = [
        " ".join(" ".join(tokens) for tokens in document)
        for path in CORPUS
        for document in instances.read_documents([path], tokenizer)
    ]
    cls, sep = tokenizer.vocab["[CLS]"], tokenizer.vocab["[SEP]"]
    kinds = set()
    for ids, mask, segments, label in zip(
        *(features[name] for name in spec), strict=True
    ):
        length = mask.sum()
        assert (ids[length:] == 0).all() and (segments[length:] == 0).all()
        a_end = np.argmax(segments) - 1
        assert ids[0] == cls and ids[a_end] == sep == ids[length - 1]
        assert segments[:length].tolist() == [0] * (a_end + 1) + [1] * (
            length - a_end - 1
        )
        a, b = (
            " ".join(tokenizer.convert_ids_to_tokens(ids[start:end]))
            for start, end in ((1, a_end), (a_end + 1, length - 1))
        )
        homes = [{i for i, d in enumerate(documents) if x in d} for x in (a, b)]
        assert all(homes)
        if not label[0]:
            assert homes[0] & homes[1]
        kinds.add(int(label[0]))
    assert kinds == {0, 1}


def test_statistics_are_the_originals(tmp_path):
    text = golden.shared(
        "data/corpus/wikitext2_valid_sentences.txt"
    ).read_text()
    lines = [line for line in text.splitlines() if line.strip()]
    # Many documents, as a draw for each of them sets its lengths.
    path = tmp_path / "corpus.txt"
    path.write_text(
        "\n\n".join(
            "\n".join(lines[start : start + 8])
            for start in range(0, len(lines), 8)
        )
    )
    vocab = str(golden.shared("data/vocab/uncased.txt"))
    tokenizer = tokenization.FullTokenizer(vocab)
    original = instances.create_training_instances(
        [str(path)],
        tokenizer,
        InstanceOptions(
            max_seq_length=64,
            max_predictions_per_seq=10,
            random_seed=1,
            dupe_factor=2,
        ),
    )
    manifest, _ = create(
        tmp_path, [path], dupe_factor=2, text={"vocab_file": vocab}
    )
    features = read(manifest)
    lengths = features["input_mask"].sum(1)
    expected = np.array([len(instance.tokens) for instance in original])
    statistics = manifest["statistics"]
    assert statistics["num_instances"] == len(lengths)
    assert abs(len(lengths) / len(expected) - 1) < 0.02
    np.testing.assert_allclose(
        np.quantile(lengths, [0.05, 0.1, 0.2, 0.5]),
        np.quantile(expected, [0.05, 0.1, 0.2, 0.5]),
        rtol=0.1,
    )
    is_random = [instance.is_random_next for instance in original]
    share = features["next_sentence_labels"].mean()
    assert share == pytest.approx(statistics["share_random_next"])
    assert abs(share - np.mean(is_random)) < 0.02
    assert 0.1 < statistics["share_short"] < 0.25
    counts = [len(instance.masked_lm_positions) for instance in original]
    made = (features["masked_lm_weights"] > 0).sum(1)
    assert abs(made.mean() / np.mean(counts) - 1) < 0.01
    np.testing.assert_array_equal(
        made, np.clip(np.rint(lengths * 0.15), 1, 10).astype(int)
    )
    assert abs(statistics["share_masked_as_mask"] - 0.8) < 0.01
    assert abs(statistics["share_masked_kept"] - 0.1) < 0.01


class Stop(Exception):
    pass


def test_interrupted_work_goes_on(tmp_path, monkeypatch):
    whole, _ = create(tmp_path / "whole")
    write_shard = stages.shards.write_shard
    made = []

    def fail_at_last(options, store, vocab, rows, shard, path):
        made.append(shard)
        if len(made) == 3:
            raise Stop
        return write_shard(options, store, vocab, rows, shard, path)

    monkeypatch.setattr(stages.shards, "write_shard", fail_at_last)
    with pytest.raises(Stop):
        create(tmp_path)
    shards = sorted(tmp_path.glob("out-*"))
    assert len(shards) == 2
    shards[0].unlink()
    with pytest.raises(ValueError, match="dupe_factor=3.*start again"):
        create(tmp_path, dupe_factor=4)
    manifest, _ = create(tmp_path)
    assert made == [0, 1, 2, 0, 2]
    assert digests(manifest) == digests(whole)
    # All is done: nothing is made again.
    assert create(tmp_path)[0] == manifest
    assert len(made) == 5


def test_changed_input_is_noticed(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("The harbor.\nThe keeper.\n\nA light.\nThe end.\n")
    create(tmp_path, [path])
    path.write_text("The harbor.\nThe keeper.\n\nA light.\nThe and.\n")
    with pytest.raises(ValueError, match="another .*corpus.txt"):
        create(tmp_path, [path])


def test_gzip_gives_the_same(tmp_path):
    packed = []
    for path in CORPUS:
        packed.append(tmp_path / f"{os.path.basename(path)}.gz")
        with open(path, "rb") as file:
            packed[-1].write_bytes(gzip.compress(file.read()))
    assert digests(create(tmp_path / "a", packed)[0]) == digests(
        create(tmp_path / "b")[0]
    )


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("One.\nTwo.\nThree.\n", "one document"),
        ("One two.\n\nThree four.\n\nFive.\n", "no next sentence"),
        ("\u1200\u1201 \u1202\n\u1203\n\n\u1204\nabc\n", "are \\[UNK\\]"),
        ("word " * 300 + "\n\n" + "and " * 300, "--sentence_split"),
        (b"Bad \xff\xfe one.\nTwo.\n\nThree.\nFour.\n", "dropped 2 bytes"),
    ],
)
def test_report_warns_of_what_usually_goes_wrong(tmp_path, text, warning):
    path = tmp_path / "corpus.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    _, reported = create(tmp_path, [path])
    assert reported[0][0].startswith("corpus: ") and not reported[0][1]
    warnings = [line for line, is_warning in reported if is_warning]
    assert any(re.search(warning, line) for line in warnings)


def test_an_empty_corpus_is_an_error_that_leaves_nothing(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n \n")
    with pytest.raises(ValueError, match="no text in the input: .*corpus.txt"):
        create(tmp_path, [path])
    assert os.listdir(tmp_path) == ["corpus.txt"]
    path.write_text("Some text.\nAnd more.\n")
    create(tmp_path, [path])


def test_shards_suit_the_corpus(tmp_path):
    assert len(create(tmp_path / "a", num_shards=0)[0]["shards"]) == 1


def test_too_many_shards_leave_a_job_that_takes_the_remedy(
    tmp_path, monkeypatch
):
    expected, _ = create(tmp_path / "expected", num_shards=2)
    with pytest.raises(ValueError, match="--num_shards=10000 leaves a shard"):
        create(tmp_path, num_shards=10_000)
    # The text is not tokenized again, and other flags still count.
    monkeypatch.delattr(token_store, "tokenize_block")
    with pytest.raises(ValueError, match="--dupe_factor=3; give"):
        create(tmp_path, num_shards=2, dupe_factor=4)
    assert digests(create(tmp_path, num_shards=2)[0]) == digests(expected)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: os.truncate(path, 100),
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
    ],
)
@pytest.mark.parametrize("is_finished", [True, False])
def test_a_damaged_shard_is_made_again(
    tmp_path, monkeypatch, damage, is_finished
):
    write_shard = stages.shards.write_shard
    made = []

    def note(options, store, vocab, rows, shard, path):
        made.append(shard)
        return write_shard(options, store, vocab, rows, shard, path)

    def stop(*unused_args):
        raise Stop

    monkeypatch.setattr(stages.shards, "write_shard", note)
    with monkeypatch.context() as patch:
        if not is_finished:
            patch.setattr(stages.corpus_report, "statistics", stop)
            with pytest.raises(Stop):
                create(tmp_path)
        else:
            create(tmp_path)
    shards = sorted(tmp_path.glob("out-*"))
    before = [path.read_bytes() for path in shards]
    damage(shards[1])
    manifest, _ = create(tmp_path)
    assert [path.read_bytes() for path in shards] == before
    assert made == [0, 1, 2, 1]
    assert sorted(os.listdir(tmp_path))[3:] == ["out.manifest.json"]
    assert [shard["bytes"] for shard in manifest["shards"]] == [
        len(content) for content in before
    ]
    assert create(tmp_path)[0] == manifest
    assert len(made) == 4


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("[]", "must hold a JSON object"),
        ("{}", "it has no 'flags' of type dict"),
        (None, "is not valid JSON"),  # cut off
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", "not UTF-8"),
        ('{"flags": {}, "inputs": 5}', "it has no 'inputs' of type list"),
    ],
)
@pytest.mark.parametrize("name", ["out.manifest.json", "out.work/job.json"])
def test_a_manifest_of_other_contents_is_named(
    tmp_path, name, contents, message
):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if contents is None:
        create(tmp_path / "whole")
        whole = (tmp_path / "whole/out.manifest.json").read_bytes()
        contents = whole[: len(whole) // 2]
    if isinstance(contents, str):
        contents = contents.encode()
    path.write_bytes(contents)
    with pytest.raises(
        ValueError, match=f"(?s){name}.*{message}.*to start again"
    ):
        create(tmp_path)
    assert path.read_bytes() == contents


def test_files_of_others_stay(tmp_path):
    """Those at the places of our own unfinished work, too."""
    names = (
        "out-00000-of-00003.partial-good",
        "out-notes.partial-1",
        "out.manifest.json.partial-2.txt",
    )
    for name in names:
        (tmp_path / name).write_text("mine")
    killed = tmp_path / "out-00001-of-00003.partial-123"
    killed.write_text("half a shard")
    work = tmp_path / "out.work"
    work.mkdir()
    (work / "store.json").write_text("mine")
    with pytest.raises(ValueError, match="out.work is where .* other files"):
        create(tmp_path)
    assert (work / "store.json").read_text() == "mine"
    (work / "store.json").unlink()
    with pytest.raises(ValueError, match="leaves a shard empty"):
        create(tmp_path, num_shards=10_000)
    (work / "notes.txt").write_text("mine")
    create(tmp_path)
    assert os.listdir(work) == ["notes.txt"]
    assert not killed.exists()
    assert all((tmp_path / name).read_text() == "mine" for name in names)


def test_two_processes_do_not_make_the_same(tmp_path, monkeypatch):
    read = stages.corpus_report.lines
    messages = []

    def again(corpus):
        monkeypatch.setattr(stages.corpus_report, "lines", read)
        # A lock is held against this process too.
        with pytest.raises(OSError, match="out is in use by proc") as caught:
            create(tmp_path)
        messages.append(str(caught.value))
        return read(corpus)

    monkeypatch.setattr(stages.corpus_report, "lines", again)
    create(tmp_path)
    assert len(messages) == 1 and f"process {os.getpid()} " in messages[0]
    assert not (tmp_path / "out.lock").exists()


@pytest.mark.parametrize(
    ("segmenter", "message"),
    [
        ("os:getcwd", "it raised TypeError: .*no arguments"),
        ("os:sep", "it raised TypeError: 'str' object is not callable"),
        ("builtins:str", "must return a list of str.*it returned A tug"),
        ("builtins:len", "it raised TypeError: 'int' object is not iter"),
        ("builtins:enumerate", "must return a list of str"),
        ("no_such_module:cut", "no module:function that can be imported"),
        ("os", "no module:function that can be imported"),
    ],
)
def test_what_is_no_segmenter_leaves_nothing(tmp_path, segmenter, message):
    with pytest.raises(ValueError, match=f"{segmenter} .*{message}"):
        create(tmp_path, text={"segmenter": segmenter})
    assert os.listdir(tmp_path) == []


def words_masked_whole(manifest, words, vocab_file):
    """Whether each occurrence of words is masked whole or not at all."""
    features = read(manifest)
    tokenizer = tokenization.FullTokenizer(vocab_file)
    seen = 0
    for row in range(len(features["input_ids"])):
        ids = features["input_ids"][row].copy()
        count = (features["masked_lm_weights"][row] > 0).sum()
        positions = features["masked_lm_positions"][row, :count]
        ids[positions] = features["masked_lm_ids"][row, :count]
        for word in words:
            wanted = tokenizer.convert_tokens_to_ids(list(word))
            for start in range(len(ids) - len(word) + 1):
                stretch = range(start, start + len(word))
                if ids[list(stretch)].tolist() == wanted:
                    masked = len(set(stretch) & set(positions))
                    if masked not in (0, len(word)):
                        return False
                    seen += masked > 0
    return seen > 0


def split_to_pairs(text):
    """A segmenter for tests: every two characters are a word."""
    return [text[start : start + 2] for start in range(0, len(text), 2)]


def test_word_boundaries_for_text_without_spaces(tmp_path):
    words = ["\u4e2d\u6587", "\u6d4b\u8bd5", "\u53e5\u5b50"]
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text(
        "\n".join([*tokenization.SPECIAL_TOKENS, *"".join(words)])
    )
    text = {"vocab_file": str(vocab_file)}
    line = "".join(words)
    corpus, boundaries = tmp_path / "corpus.txt", tmp_path / "words.txt"
    corpus.write_text(f"{line}\n{line}\n\n" * 30)
    boundaries.write_text(f"{' '.join(words)}\n{' '.join(words)}\n\n" * 30)
    options = {"do_whole_word_mask": True, "masked_lm_prob": 0.4}
    assert not words_masked_whole(
        create(tmp_path / "plain", [corpus], text=text, **options)[0],
        words,
        vocab_file,
    )
    assert words_masked_whole(
        create(
            tmp_path / "file",
            [corpus],
            text=text,
            boundary_files=[boundaries],
            **options,
        )[0],
        words,
        vocab_file,
    )
    assert words_masked_whole(
        create(
            tmp_path / "segmenter",
            [corpus],
            text={**text, "segmenter": f"{__name__}:split_to_pairs"},
            **options,
        )[0],
        words,
        vocab_file,
    )
    boundaries.write_text("other\n")
    with pytest.raises(ValueError, match="words.txt, line 1: its words"):
        create(tmp_path / "x", [corpus], boundary_files=[boundaries])
    assert not (tmp_path / "x").exists()


def test_sentence_split(tmp_path):
    pytest.importorskip("sentencex")
    path = tmp_path / "corpus.txt"
    path.write_text("Dr. Smith went. He slept! Did he?\n\nOne. Two.\n")
    manifest, _ = create(tmp_path, [path], text={"sentence_split": "en"})
    assert manifest["corpus"]["num_sentences"] == 5


def test_sentence_split_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(ValueError, match="pip install sentencex"):
        sentences.splitter("en")


def test_documents_are_held_out_for_evaluation(tmp_path):
    path = tmp_path / "corpus.txt"
    # Each document repeats a word of its own.
    vocab = tokenization.load_vocab(VOCAB)
    words = [word for word in vocab if word.isascii() and word.isalpha()][-20:]
    path.write_text("\n".join(f"{word} {word}\n" * 12 for word in words))
    # What is chosen stays as it is, so that all words can be seen.
    kept = {"mask_token_prob": 0.0, "same_token_prob": 1.0}

    def words_in(ids):
        return {word for word in words if vocab[word] in ids}

    whole, _ = create(tmp_path / "whole", [path], **kept)
    assert "eval_shards" not in whole
    assert len(words_in(read(whole)["input_ids"])) == 20
    found = {}
    for name, changed in (
        ("plain", {}),
        ("dynamic", {"dynamic_masking": True, "num_shards": 5}),
        ("repeated", {"dupe_factor": 5}),
    ):
        manifest, _ = create(
            tmp_path / name, [path], eval_fraction=0.2, **kept, **changed
        )
        (entry,) = manifest["eval_shards"]
        assert entry["path"] == str(tmp_path / name / "eval-out")
        spec = None
        if "dynamic_masking" in changed:
            spec = feature_specs.unmasked_features(64)
        training = words_in(read(manifest, spec)["input_ids"])
        held_out = read({"shards": [entry]})
        assert held_out["masked_lm_weights"].sum() > 0
        assert len(held_out["input_ids"]) == entry["num_records"]
        assert set(held_out["next_sentence_labels"].ravel()) == {0, 1}
        found[name] = words_in(held_out["input_ids"])
        assert len(found[name]) == 4
        assert len(training) == 16 and not training & found[name]
        with open(entry["path"], "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        found[name] = (found[name], digest)
        num_rows = sum(shard["num_records"] for shard in manifest["shards"])
        assert manifest["statistics"]["num_instances"] == num_rows
    # The same file for any number of shards, of passes and kind of masking.
    assert found["plain"] == found["dynamic"] == found["repeated"]

    os.remove(entry["path"])
    again, _ = create(
        tmp_path / name, [path], eval_fraction=0.2, **kept, **changed
    )
    assert again == manifest
    with open(entry["path"], "rb") as file:
        assert hashlib.sha256(file.read()).hexdigest() == digest


def test_one_document_cannot_be_held_out(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("One sentence.\nAnd another.\n")
    with pytest.raises(ValueError, match="--eval_fraction=0.1 holds out"):
        create(tmp_path, [path], eval_fraction=0.1)
