"""Creates pretraining instances and masks them.

The three maskings choose and replace WordPieces with the same probabilities:

    masking.py           one instance at a time, with the original's random
                         draws: the default of create_pretraining_data.py
    at_scale/masking.py  many instances at once, in NumPy: with --num_processes,
                         --num_shards and the like
    dynamic_masking.py   while training reads, in tf.data, with new masks in
                         every epoch: records made with --dynamic_masking
"""
