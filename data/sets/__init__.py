"""Reads the train, dev and test sets of any task.

Read them in this order:

    split_names.py: names the splits that a command reads
    set_cache.py: reads each set once, and holds it until it is taken
    set_reader.py: `SetReader`, the base class of what reads the sets of a task

The classes that read a set. One that is further to the right extends the one
above it:

    CachingReader                   holds a set until the run takes it
        SetReader                   reads a folder, or splits --data_file
            NerProcessor            words with tags
            TableProcessor          a user's table of texts and labels
                PairProcessor       pairs of texts, with or without a score
                RankingProcessor    queries, passages and their relevance
        ClassificationProcessor     knows the labels and the metrics of a task
            GlueProcessor           files of GLUE and XNLI
            UserProcessor           what a user's class reads
            RecordedProcessor       no set, only the labels of a trained model
            TableProcessor          the same class as above: it extends both

`ClassificationReader` has the processor of each split: a single one, or two for
MultiNLI. SQuAD's sets have a reader of their own, data/squad/squad_reader.py.
"""
