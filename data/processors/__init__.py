"""Reads the train, dev and test sets of any task.

A processor reads the sets of a task, as in Google's code. Read the modules in
this order:

    set_names.py: names the sets
    data_processor.py: `DataProcessor`, the base class of all processors
    file_processor.py: `FileProcessor`, which reads a folder or a single file

A class that is further to the right extends the one above it:

    DataProcessor                   holds a set until the run takes it
        FileProcessor               reads a folder, or splits --data_file
            NerProcessor            words with tags
            TableProcessor          a user's table of texts and labels
                PairProcessor       pairs of texts, with or without a score
                RankingProcessor    queries, passages and their relevance
        ClassificationProcessor     knows the labels and the metrics of a task
            GlueProcessor           files of GLUE and XNLI
            UserProcessor           what a user's class reads
            RecordedProcessor       no set, only the labels of a trained model
            TableProcessor          the same class as above: it extends both
        SquadProcessor              questions about passages

MultiNLI has two dev sets and two test sets. So `ClassificationSets` may
hold two processors of a task. SWAG has none: its sets tell nothing that a
command needs before it writes their records, so that nothing is held.
"""
