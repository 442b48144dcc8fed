"""Splitting text into sentences."""

import pytest

from data.text import sentences


@pytest.mark.parametrize("language", ["en", "de", "zh", "als", "zh-yue"])
def test_languages(language):
    sentences.check_language(language)


@pytest.mark.parametrize("language", ["", "xx", "english", "EN", "e", "de_DE"])
def test_what_is_no_language_is_refused(language):
    with pytest.raises(ValueError, match=f"^--sentence_split={language} is "):
        sentences.check_language(language)
