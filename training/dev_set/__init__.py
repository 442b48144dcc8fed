"""Answers whether the scores on a dev set may be trusted.

A score means nothing if the weights were trained on rows of the dev set. With
--data_dir, the user made the sets. A --data_file is one file, from which a rule
takes the dev set.

    set_fingerprints.py: `SetFingerprint`, which identifies a set in model.json
    rules.py: `DevSetRule`, how it is chosen, and its comparison with that of
        the weights
    comparison.py: `compare_dev_set`: the dev set, against the sets that the
        weights were trained on

What happens, in the order of a command, and what the user reads then:

1. `choose_dev_set_rule` chooses the rule, and compares it with the one that the
   weights' run recorded. `decide_dev_set_rule` calls it before the rows are
   read. The user reads a warning if a run that led to the weights chose its
   sets in another way.
2. `key_of` and `split_fraction_of` in data/sets/text_keys.py turn the texts of
   a row into a number from 0 to 1. The row is in the dev set if the number is
   below --dev_fraction. So every command with this fraction agrees, whatever
   rows were added meanwhile. The user reads nothing.
3. `compare_dev_set` in comparison.py compares the files and the rows of the
   dev set with the recorded sets. `fine_tune` calls it after all sets
   are read. The attributes of `DevSetCase` list what the user then reads, by
   `report_finding`.
4. `collect_fine_tuning_settings` in fine_tuning/plan.py collects the rule and
   the sets to record. They are in the `settings` of model.json as soon as the
   training begins.
5. `check_resumed_train_set` in checks/resume_checks.py compares the train set,
   if the command resumes a run. `plan_fine_tuning` calls it before the model
   exists. If the rows are not those of the run, the user reads an error that
   names the file.

Steps 1 and 2 are only for --data_file, and step 3 is for scripts that have this
flag. The modules of this package load no TensorFlow. Below this package,
data/sets/text_keys.py only splits rows, and model_folders/ only checks the
types of what is recorded (model_json_types.py).
"""
