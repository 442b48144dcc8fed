"""Decides whether the scores of a dev set may be trusted.

    set_fingerprints.py: `SetFingerprint`: identifies a set in model.json
    rules.py: `DevSetRule`: takes the dev set from the rows of --data_file
    comparison.py: compares the dev set with the sets that earlier runs recorded

A score means nothing if the weights were trained on rows of the dev set. With
--data_dir, the user made the sets. A --data_file is one file, from which a rule
takes the dev set. A run that chose its sets in another way may have been
trained on rows of this dev set. So model.json records the rule of a run and a
`SetFingerprint` of each of its sets.

What happens, in the order of a command, and what the user reads then:

1. Only with --data_file, before its rows are read: `choose_dev_set_rule`
   chooses the rule, by the one that the weights' run recorded. If a run that
   led to the weights chose its sets in another way, it also returns this doubt,
   and `decide_by_rows` in preparation/ logs it as a warning.
2. The readers of data/ split the rows by data/sets/text_keys.py: `key_of` and
   `split_fraction_of` turn the texts of a row into a number from 0 to 1. The
   row is in the dev set if the number is below --dev_fraction. So every command
   with this fraction agrees, whatever rows were added meanwhile.
3. After all sets are read, if the script has a --data_file: `compare_dev_set`
   compares the files and the rows of the dev set with the recorded sets. The
   attributes of `DevSetCase` list what the user then reads.
4. When the training begins, model.json gets the rule and the sets
   (`collect_fine_tuning_settings` in fine_tuning/plan.py). Before a resumed
   training, `check_resumed_train_set` in preparation/ compares the train set.

No module of this package imports TensorFlow.
"""
