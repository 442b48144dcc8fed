"""The steps that `fine_tune` and `pretrain` share.

A command runs them in this order:

    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: what a command will train and record
    run_opening.py: `open_run`: the run that the plan says, with its weights
    trainer_creation.py: creates its model and its Trainer
    run_ending.py: stores, exports and logs what was trained
"""
