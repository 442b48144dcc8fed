"""Reads the train, dev and test sets of any task, and holds them.

Read the modules in this order:

    set_names.py: names the sets, and finds their files in a folder
    task_sets.py: `TaskSets`, which reads each set once, and holds it
    file_sets.py: `FileSets`, the sets of a folder or of a single file
    data_file_split.py: splits a single file into a train set and a dev set
    row_keys.py: decides by a row's texts in which of the two it is

A `TaskSets` holds each set of a task until the run takes it. `FileSets` extends
it. Both ask an object of the task to read a file:

    FileSets                    reads the training file, then the labels, then
                                the other sets. Its `RowReader` reads a file:
        UserTableReader         a user's table of texts and labels, or of pairs
        NerReader               words with tags
    TaskSets itself             reads any set first. It calls a method of:
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
