"""The steps that fine-tuning and pretraining share.

Both flows run them in this order:

    checks.py: checks files and the task before slow work
    teacher.py: loads the teacher
    run_plan.py: `RunPlan`: what a flow plans before its model exists
    trainer_setup.py: creates the model and the Trainer of a run
    run_ending.py: scores, stores and logs what was trained
"""
