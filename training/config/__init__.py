"""The flags of every training command, each with its default and help.

A script defines its `Config` itself, as a subclass of one of these classes. If
other modules read the flags of a script, its Config is beside these modules:
`PretrainingConfig` is here, and `ClassifierConfig` is in training/tasks/.

    training_config.py: `TrainingConfig`: the flags of every run
    fine_tuning_config.py: `FineTuningConfig`: the flags of every fine-tuning,
        and `DataFileConfig`: the flags of scripts that can split one file
    pretraining_config.py: `PretrainingConfig`: the flags of run_pretraining.py
"""
