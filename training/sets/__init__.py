"""The sets of a command: which rows are the dev set, and what that implies.

A score on the dev set means nothing if the weights were trained on its rows. A
--data_file is one file, from which a rule takes the dev set. With --data_dir,
the user made the sets. What keeps the dev set apart, in the order of a run:

1. The rule. data/tables/row_keys.py turns the texts of a row into a number from
   0 to 1, and the row is in the dev set if the number is below --dev_fraction.
   Every command with this fraction agrees, whatever rows were added meanwhile.
2. The record. A run writes to model.json which rule chose its rows
   (`DevSetRule`), and the name, size and checksum of each of its sets
   (`RecordedSet`). model_folders/recorded_sets.py defines both.
3. The comparison. A later command that continues, evaluates or starts from the
   weights compares its own rule and sets with those that were recorded. It
   stops, warns, or shows scores without writing them: a table in
   recorded_set_checks.py says when.

The modules, in the order in which a command calls them:

    data_file_adaptation.py: adapts the start of a command to the rows of
        --data_file
    dev_set_rule.py: the rule of the command, compared with the recorded one
    encoded_sets.py: reads the sets, writes their records, and describes
        them for model.json
    recorded_set_checks.py: compares the sets with those of the weights'
        training
"""
