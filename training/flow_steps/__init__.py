"""The steps of a command that both flows share, before and after the loop.

Before the loop, `fine_tune` and `pretrain` use these modules in this order:

    teacher.py: `load_teacher`: the teacher, if the command has one
    run_plan.py: `RunPlan`: what a command will train and record. Each flow
        plans this in a plan.py of its own
    trainer_loading.py: `load_trainer`: the folder, the model and its `Trainer`,
        with the weights to start from

The loop is `Trainer.fit` of training/loop/. After it, both flows use:

    final_steps.py: stores, exports and logs what was trained
"""
