"""Trains a model step by step, and computes its outputs.

Before the steps, `fine_tune` and `pretrain` use these modules:

    devices.py: strategies of devices
    run_plan.py: `RunPlan`: the model, the loss, the number of steps
    teacher_loading.py: `load_teacher`, and its checks
    trainer_loading.py: `load_trainer` by a `RunPlan`: the folder, the model and
        its `Trainer`, with the weights to start from

The steps:

    trainer.py: `Trainer`: the model, its step and its weights
    run_weights.py: `RunWeights`: which weights a run starts from, and saves
    step_loop.py: runs steps, their callbacks and saves, until one of the
        reasons in ending.py
    ending.py: why a training ends, and that all workers end after the same step
    skipped_steps.py: counts the steps whose loss or gradient is not finite
    train_step.py: one step: gradients, clipping, update, on several devices
    replica_gradients.py: the gradients of one device's part of a batch
    step_gradients.py: their sums over all devices, how they are clipped, and
        whether they are finite
    callbacks.py: `Callback`: what runs after each step
    summary_callback.py: adds the losses to the history
    best_step_callback.py: evaluates, and keeps the weights of the best step
    once_per_step.py: evaluates no step twice

After them:

    batch_predictor.py: a model's outputs, batch by batch, to evaluate
    final_stages.py: stores, exports and logs what was trained
"""
