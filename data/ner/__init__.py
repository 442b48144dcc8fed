"""Reads texts with named entities, cuts them into windows, and scores tags.

    ner_options.py: the flags
    ner_examples.py: a sentence with tagged words, and a text as words
    ner_reader.py: reads the file of a set of run_ner.py, in one of two forms

Words with tags in columns, as CoNLL's shared tasks and tables write them:

    conll_files.py: the sentences of a file, and where each ends
    conll_layout.py: the separator and the names of its columns
    conll_columns.py: which of its columns contain the words and the tags

Texts with spans, from annotation tools:

    annotation_files.py: the texts and spans of a file
    annotated_rows.py: the spans or the tags in a row, by its keys
    label_studio.py: rows of Label Studio's tasks
    labeled_spans.py: one span, whichever tool wrote it
    span_tagging.py: tags the words that spans cover, which must count
        characters

From words to scores:

    tag_names.py: names the tags as this project does
    sentence_windows.py: cuts sentences into windows, and joins the outputs for
        these
    tag_decoding.py: chooses the most probable legal tags
    entity_scoring.py: conlleval's scores
    predicted_entities.py: files of predicted tags and entities, and the part of
        report.html

The same in a TensorFlow graph, for exports. A graph and its Python twin must
change together:

    sentence_windows_graph.py: how ner_examples.py splits texts into words, and
        the windows of sentence_windows.py
    tag_decoding_graph.py: the legal tags of tag_decoding.py
"""
