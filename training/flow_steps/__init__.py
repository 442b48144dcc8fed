"""The steps of a command that both flows share, before and after the loop.

`fine_tune` and `pretrain` begin with the first three, in this order:

    teacher.py: `load_teacher`: the teacher, if the command has one
    run_plan.py: `RunPlan`: what a command will train and record. Each flow
        plans this in a plan.py of its own
    trainer_loading.py: `load_trainer`: the folder, the model and its `Trainer`,
        with the weights to start from

The flow then trains the `Trainer` (training/loop/), and ends with:

    final_steps.py: stores, exports and logs what was trained
"""
