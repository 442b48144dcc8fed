"""Reads the train, dev and test sets of any task, and holds them.

Read the modules in this order:

    set_names.py: names the sets, and finds their files in a folder
    held_sets.py: `TaskSets`, which reads each set once, and holds it
    file_sets.py: `FileSets`, the sets of a folder or of a single file
    data_file_split.py: splits a single file into a train set and a dev set
    row_keys.py: decides by a row's texts in which of the two it is

A `TaskSets` holds each set of a task until the run takes it. Each of its
subclasses reads files in another way:

    FileSets        reads the training file, then the labels, then the other
                    sets. It asks a `RowReader` to read a file:
        UserTableReader     a user's table of texts and labels, or of pairs
        NerReader           words with tags
    GlueSets        files of GLUE and XNLI
    UserClassSets   what a user's class reads
    NoSets     no set, because only the labels of a model are known
    SquadSets       questions about passages

Code calls such an object `sets`. A `ClassificationProcessor` is none of these:
it knows the labels and metrics of a classification, and has a `TaskSets`. A
UserTableProcessor has FileSets, a GlueProcessor GlueSets, a UserClassProcessor
UserClassSets, and a LabelsOnlyProcessor NoSets. The GlueProcessor of
MultiNLI, which has two dev sets and two test sets, has two GlueSets.

SWAG has no such class: its sets tell nothing that a command needs before it
writes their records, so that nothing is held.
"""
