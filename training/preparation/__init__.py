"""Prepares what a command starts from, before any slow work.

The first of these that knows a flag decides its value:

    1. the user, on the command line
    2. --data_file or --processor, which imply other flags
       (`Config.with_implied_flags`)
    3. the header of --data_file (`decide_columns` in
       training/tasks/classifier_setup.py), or the records of pretraining
       (`decide_by_records` in pretraining_decisions.py)
    4. the folder of the weights (`complete_flags` in
       starting_point_loading.py)
    5. the rows of --data_file (`decide_by_rows` in data_file_decisions.py)
    6. its default

Scripts call 3 to 5 in this order, and `load_starting_point` is what calls 4.
Each returns the command with the flags that it decided, by `override` or
`decide_if_open` of options/parsed_command.py.

The modules, in the order in which a reader needs them:

    starting_point_loading.py: reads the weights' folder, its configuration and
        tokenizer, completes the flags, and creates the `StartingPoint`
    model_files.py: which flags the weights' folder states, and the
        configuration and the vocabulary that flags name
    data_file_decisions.py: what the rows of --data_file decide, and the rule of
        its dev set
    pretraining_decisions.py: what the records of pretraining decide. It is
        apart, because only modules that are named after pretraining may import
        data/pretraining/
"""
