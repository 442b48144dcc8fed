import pytest

from data.pretraining import splitting


@pytest.fixture
def small_parts(monkeypatch):
    """Cuts the sample corpora into parts, too."""
    monkeypatch.setattr(splitting, "_LEAST_PART_BYTES", 300)
