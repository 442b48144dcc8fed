"""Decides whether the scores on a dev set can be trusted.

A score means nothing if the weights were trained on rows of the dev set. With
--data_dir, the user made the sets. A --data_file is one file, from which a rule
takes the dev set.

    set_fingerprints.py: `SetFingerprint`, which identifies a set in model.json
    rules.py: `DevSetRule`, how it is chosen, and its comparison with that of
        the weights
    comparison.py: compares a dev set with the sets that the weights were
        trained on

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

The modules of this package load no TensorFlow. In other packages,
model_folders/model_json.py only defines the types of what is recorded.
"""
