"""Trains a model step by step, and computes its outputs.

The steps:

    devices.py: strategies of devices
    trainer.py: `Trainer`: the model, its step and its weights
    step_loop.py: runs steps, their callbacks and saves, until all workers end
        after the same step, by a signal too
    train_step.py: one step: gradients, clipping, update, on several devices
    batch_gradients.py: the loss and gradients of a batch, at once or in parts
    callbacks.py: what runs after each step: a `Callback` adds losses to the
        history, another one evaluates and keeps the weights of the best step

Evaluations:

    batch_predictor.py: a model's outputs, batch by batch
"""
