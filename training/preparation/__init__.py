"""Prepares what a command starts from, before any slow work.

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
