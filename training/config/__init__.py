"""The flags of every training command, each with its default and help.

What the scripts share, extract_features.py the first one too:

    model_config.py: `ModelConfig`: the files of the model, the devices and the
        precision, and which of these flags are missing
    training_config.py: `TrainingConfig`: the flags of every run: the training
        loop, what the run's folder keeps, the optimizer, a teacher
    fine_tuning_config.py: `FineTuningConfig`: the flags of every fine-tuning,
        and `DataFileConfig`: the flags of scripts that can split one file

All flags of a script, in a subclass of one of these classes:

    classifier_config.py: `ClassifierConfig`, for run_classifier.py
    ner_config.py: `NerConfig`, for run_ner.py
    squad_config.py: `SquadConfig`, for run_squad.py
    swag_config.py: `SwagConfig`, for run_swag.py
    pretraining_config.py: `PretrainingConfig`, for run_pretraining.py
"""
