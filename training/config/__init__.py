"""The flags of every training command, each with its default and help.

What the scripts share, extract_features.py the first three too:

    model_options.py: the model, and the names of its files
    device_options.py: the devices, and the precision of the computation
    model_config.py: `ModelConfig`: these flags, and which of them are missing
    training_options.py: the training loop, and what the run's folder keeps. The
        optimizer and the learning rate. A student that learns from a teacher
    training_config.py: `TrainingConfig`: the flags of every run
    fine_tuning_config.py: `FineTuningConfig`: the flags of every fine-tuning,
        and `DataFileConfig`: the flags of scripts that can split one file

All flags of a script, in a subclass of one of these classes:

    classifier_config.py: `ClassifierConfig`, for run_classifier.py
    ner_config.py: `NerConfig`, for run_ner.py
    squad_config.py: `SquadConfig`, for run_squad.py
    swag_config.py: `SwagConfig`, for run_swag.py
    pretraining_config.py: `PretrainingConfig`, for run_pretraining.py
"""
