"""Learns the vocabulary of a corpus, or extends a vocabulary.

data/text/vocabulary_learning.py chooses the WordPieces. What a command needs
besides is here. tools/create_vocabulary.py lists the stages:

    vocabulary_config.py: the flags of tools/create_vocabulary.py
    vocabulary_stages.py: counts the words of files, and writes the vocabulary
        with its casing and a configuration
"""
