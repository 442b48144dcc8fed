"""Optimizers (AdamW, LAMB) and learning rate schedules.

Keras's Adam always corrects its bias, which BERT's does not:

    optimization.py: `create_optimizer`, and the learning rates
    adamw.py: AdamW and LAMB, with their formulas
    accelerated_updates.py: compiles the updates of large variables
"""
