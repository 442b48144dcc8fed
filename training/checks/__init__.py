"""Checks that refuse a command before its first step.

A command meets them in this order:

    start_checks.py: `check_start`: the weights, the lengths and the outputs of
        the flags
    task_checks.py: `check_task`: the task, against the weights.
        `warn_of_labels` says what may be wrong
    resume_checks.py: what a resumed run must keep: its flags and settings, its
        train set, its records

`load_starting_point` calls the last module before all others, to compare the
flags. The plan.py of fine_tuning/ or of pretraining/ calls it again, when it
knows the settings and the data.

Other checks stand beside what they need: `Config.check` compares flags with
flags, pretraining/ checks the network and the records that it reads, and
run/teacher.py the teacher. dev_set/ compares the dev set with the sets that the
weights were trained on.
"""
