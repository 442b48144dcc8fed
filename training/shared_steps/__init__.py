"""The steps that `fine_tune` and `pretrain` share.

A command runs them in this order:

    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: what a command will train and record
    trainer_loading.py: `load_trainer`: the run's folder, and its model with the
        weights to start from
    run_ending.py: stores, exports and logs what was trained

These modules call training/loop/. What a run writes to its folder is in
training/run_files/, because the loop writes it.
"""
