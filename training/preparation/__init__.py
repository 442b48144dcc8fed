"""Prepares what a command starts from, before any slow work.

The first of these that knows a flag decides its value:

    1. the user, on the command line
    2. --data_file or --processor, which imply other flags (`Config.prepare`)
    3. the header of --data_file (`decide_columns` in
       training/tasks/classifier_setup.py), or the records of pretraining
       (pretraining_adaptation.py)
    4. the folder of the weights (flag_completion.py), which then checks all
       flags
    5. the rows of --data_file (data_file_adaptation.py)
    6. its default

Scripts call 3 to 5 in this order. Each returns the command with the flags that
it decided, by `decide_flags` in command_line/config_values.py.

A script calls the first three modules, which call the others:

    starting_point.py: `StartingPoint`: the flags, the weights' folder, its
        configuration and tokenizer
    data_file_adaptation.py: adapts the StartingPoint to the rows of --data_file
    pretraining_adaptation.py: adapts the flags of pretraining to its records
    flag_completion.py: completes the flags by what the weights' folder states
    resuming.py: compares a command with the one that began the run
    recorded_command.py: the command, without folders and machines
    dev_set_rule.py: which rows of --data_file are the dev set, and whether the
        weights may have been trained on these rows
"""
