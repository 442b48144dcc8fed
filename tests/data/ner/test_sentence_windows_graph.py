"""The words that the graph finds in texts, against Python's."""

import random

from data.ner import ner_examples, sentence_windows_graph


def test_split_words_cuts_a_text_where_the_graph_does():
    rng = random.Random(3)
    chars = "aB1'\"().,-$+<\xab\xa1\u3002\u2013\u2014\u2026\u2015\u6e2f\xe9"
    chars += " \t\n\xa0\u2028\u3000\x0b\x1c\x85\u200b"
    texts = [
        "".join(rng.choices(chars, k=rng.randint(0, 30))) for _ in range(3000)
    ]
    parted = sentence_windows_graph.separate_words(texts).numpy()
    words = [expected.decode().split() for expected in parted]
    assert [*map(ner_examples.split_words, texts)] == words
