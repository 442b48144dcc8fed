"""Reads the train, dev and test sets of any task, and holds them.

Read the modules in this order:

    set_names.py: names the sets, and finds their files in a folder
    held_sets.py: `HeldSets`, which reads each set once, and holds it
    file_sets.py: `FileSets`, the sets of a folder or of a single file
    repeated_texts.py: warns of texts of a folder that are in two sets
    data_file_options.py: the options for a single file
    data_file_split.py: splits this file into a train set and a dev set
    text_keys.py: decides by a row's texts in which of the two it is
    label_spelling.py: finds labels that are perhaps misspelled

Code calls a `HeldSets` `sets`. Its subclasses are `TableSets` and `NerSets`,
which are `FileSets`, and `SquadSets`, `GlueSets` and `UserClassSets`. Those of
a classification are `ClassificationSets`, which tell the labels too. SWAG has
none: its sets tell nothing that a command needs before it writes their records,
so that nothing is held.

The docstring of data/classification/user_tables/ draws the way of a row through
these classes.
"""
