"""Warnings about a folder that several parts of a command read."""

import pytest

from model_folders.formats.folder_warnings import warn_once


@pytest.fixture(autouse=True)
def forget():
    """Lets each test warn anew."""
    warn_once.cache_clear()


def test_a_warning_is_logged_once(caplog):
    for _ in range(3):
        warn_once("model: no vocab.txt")
    assert [record.getMessage() for record in caplog.records] == [
        "model: no vocab.txt"
    ]
    assert caplog.records[0].levelname == "WARNING"


def test_another_warning_is_logged_too(caplog):
    warn_once("a: odd")
    warn_once("b: odd")
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["a: odd", "b: odd"]


def test_a_percent_sign_of_a_path_is_no_format(caplog):
    warn_once("100%s/model: odd")
    assert caplog.records[0].getMessage() == "100%s/model: odd"
