"""Plans, creates and ends a run, for `fine_tune` and for `pretrain`.

A command uses these modules in this order:

    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: what a command will train and record
    trainer_loading.py: `load_trainer`: the folder, the model and its Trainer,
        with the weights to start from
    final_steps.py: stores, exports and logs what was trained

These modules call training/loop/. What a run writes to its folder is in
training/run_files/, because the loop writes it.
"""
