"""Runs networks in Keras on the devices that the flags select.

Training runs its steps on the devices, and evaluates by the predictor:

    model_flags.py: the flags that name a model, and whether any is missing
    model_files.py: the configuration and the tokenizer that they name
    device_flags.py: the flags that select the devices and the precision
    devices.py: strategies, and how they share batches
    batch_predictor.py: a model's outputs, batch by batch

The same without a training, for extract_features.py:

    extract_features_config.py: the flags of the script
    feature_extraction.py: the steps of the script
"""
