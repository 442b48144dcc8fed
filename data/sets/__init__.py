"""Reads the train, dev and test sets of any task, and holds them.

    HeldSets       reads each set once, and holds it until the run takes it
    FileSets       is one: the sets of --data_dir, or the two of --data_file
    ExampleReader  is what FileSets calls: a task reads one file for it
    SquadSets, GlueSets and UserClassSets are HeldSets of one task each

A `TableReader` and a `NerReader` are the readers. SWAG has no HeldSets: its
sets tell nothing that a command needs before it writes their records, so that
nothing is held.

Read the modules in this order:

    set_names.py: names the sets and their files
    data_file_options.py: the flags of a single file, --data_file
    text_keys.py: decides by a row's texts in which set of --data_file it is
    example_reader.py: the interface of the readers
    held_sets.py: the first two classes
    repeated_texts.py: texts of a folder that are in two sets
    label_spelling.py: labels that are perhaps misspelled
"""
