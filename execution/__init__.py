"""Runs networks in Keras on the devices that the flags select.

Training runs its steps on the devices, and evaluates by the predictor:

    devices.py: strategies, and how they share batches
    batch_predictor.py: a model's outputs, batch by batch
"""
