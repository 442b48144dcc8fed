"""Pretrains on the records of create_pretraining_data.py.

    record_decisions.py: what the records decide, before the `StartingPoint` is
        loaded
    flow.py: `pretrain`: all stages of a command, and how it ends
    records.py: opens the records, and checks them
    plan.py: what the run trains and records, and what a resumed run must keep
    evaluation.py: `PretrainingEvaluator`: Google's metrics

What fine-tuning needs too is in training/loop/.
"""
