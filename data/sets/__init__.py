"""Reads the train, dev and test sets of any task, and holds them.

Read the modules in this order:

    set_names.py: names the sets
    held_sets.py: `TaskSets`, what all sets can do, and `HeldSets`
    file_sets.py: `FileSets`, the sets of a folder or of a single file
    repeated_texts.py: warns of texts that are in two sets

One of two classes holds the sets of a task. It holds each set until the run
takes it, and asks an object of the task to read a file. No class below extends
another one:

    FileSets                    reads the training file, then the labels, then
                                the other sets. Its `RowReader` reads a file:
        UserTableReader         a user's table of texts and labels, or of pairs
        NerReader               words with tags
    HeldSets                    reads any set first. It calls a method of:
        GlueProcessor           files of GLUE and XNLI
        UserClassProcessor      what a user's class reads
        RecordedProcessor       no set, only the labels of a trained model
        SquadProcessor          questions about passages

A classification has labels and metrics beside its sets. GlueProcessor,
UserClassProcessor and RecordedProcessor know them, and UserTableProcessor does
for the sets of a UserTableReader. All four extend ClassificationProcessor. The
GlueProcessor of MultiNLI, which has two dev sets and two test sets, contains a
second GlueProcessor.

SWAG has no such class: its sets tell nothing that a command needs before it
writes their records, so that nothing is held.
"""
