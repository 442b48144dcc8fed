"""Reads the train, dev and test sets of any task, and holds them.

    HeldSets       the base class: reads each set once, and holds it until the
                   run takes it
    FileSets       the HeldSets of --data_dir, or the two sets of --data_file
    ExampleReader  reads a file of a task for FileSets

`TableReader` and `NerReader` are ExampleReaders. `SquadSets`, `GlueSets` and
`UserClassSets` are HeldSets of one task each. SWAG has no HeldSets, because no
command looks at its examples before it writes their records.

Read the modules in this order:

    set_names.py: names the sets and their files
    data_file_options.py: the flags of a single file, --data_file
    text_keys.py: decides by a row's texts in which set of --data_file it is
    example_reader.py: the interface of the readers
    held_sets.py: the first two classes
    repeated_texts.py: texts of a folder that are in two sets
    label_spelling.py: labels that are perhaps misspelled
"""
