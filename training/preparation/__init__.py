"""Prepares a training: decides its flags, reads its files, and checks them.

No module of this package loads TensorFlow. So a script decides its flags, and
finds most mistakes in them, before it loads TensorFlow. The modules:

    model_files.py: checks that the required flags are set, and reads the
        configuration and the tokenizer
    starting_point_loading.py: reads the weights' folder, completes the flags,
        and creates the `StartingPoint`
    data_file_decisions.py: what the rows of --data_file decide, and the rule of
        its dev set
    start_checks.py: `check_start`: the weights, the lengths and the outputs of
        the flags. `check_task`: the task, against the weights.
        `warn_of_labels` says what may be wrong
    resume_checks.py: what a resumed run must keep: its flags and settings, its
        train set, its records

The first of these that knows a flag decides its value:

    1. the user, on the command line
    2. --data_file or --processor, which imply other flags
       (`Config.with_implied_flags`)
    3. the header of --data_file (`decide_columns` in
       training/tasks/classifier_setup.py), or the records of pretraining
       (`decide_by_records` in training/pretraining/record_decisions.py)
    4. the folder of the weights (`complete_flags` in
       starting_point_loading.py)
    5. the rows of --data_file (`decide_by_rows` in data_file_decisions.py)
    6. its default

Scripts call 3 to 5 in this order, and `load_starting_point` is what calls 4.
Each returns the command with the flags that it decided, by `override` or
`decide_if_open` of options/parsed_command.py. What only one script decides, by
files that only its task can read, stands beside the code of the task.

A command meets the checks in this order:

    1. `load_starting_point` compares the flags of a resumed run
    2. `fine_tune` and `pretrain` begin with `check_start`
    3. `fine_tune` calls `check_task`
    4. `plan_fine_tuning` and `plan_pretraining` compare the settings and the
       data of a resumed run

Other checks stand beside what they need: `Config.check` compares flags with
flags, training/pretraining/ checks the network and the records that it reads,
and training/loop/teacher_loading.py the teacher.
training/dev_set/comparison.py compares the dev set with the sets that the
weights were trained on.
"""
