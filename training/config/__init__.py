"""The flags of every training command, each with its default and help.

A script defines its `Config` itself, as a subclass of one of these. Only if
other modules read the flags of one script, its Config is beside them: that of
run_pretraining.py is here, that of run_classifier.py is in training/tasks/:

    training_config.py: `TrainingConfig`: the flags of every run
    fine_tuning_config.py: `FineTuningConfig`: those of fine-tuning, and
        `DataFileConfig`: those of scripts that can split one file
    pretraining_config.py: `PretrainingConfig`: those of run_pretraining.py
"""
