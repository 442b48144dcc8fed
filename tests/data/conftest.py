import pytest

from data.pretraining import splitting
from data.text import tokenization


@pytest.fixture
def tokenizer(tmp_path):
    """A tokenizer of single letters, which reads ad as a ##d."""
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n##d\n##e\nd\n.\n")
    return tokenization.FullTokenizer(path)


@pytest.fixture
def small_parts(monkeypatch):
    """Cuts the sample corpora into parts, too."""
    monkeypatch.setattr(splitting, "_LEAST_PART_BYTES", 300)
