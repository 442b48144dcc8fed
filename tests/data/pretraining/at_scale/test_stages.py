import gzip
import json
import os
import random
import re

import numpy as np
import pytest

from data.io import feature_specs, text_files
from data.pretraining import instances
from data.pretraining.at_scale import stages, token_store
from data.pretraining.options import InstanceOptions
from data.text import tokenization
from tests import golden
from tests.shards import CORPUS, VOCAB, create, digests, read


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
    padding = 1 - features["input_mask"].mean()
    assert padding > 0.01
    assert statistics["share_padding"] == pytest.approx(padding)
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


def test_interrupted_work_resumes(tmp_path, monkeypatch):
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
def test_a_damaged_shard_is_rebuilt(tmp_path, monkeypatch, damage, is_finished):
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
