"""Creates pretraining instances and masks them.

The three maskings choose and replace WordPieces with the same probabilities:

    instances.py        one instance at a time, with the original's random
                        draws: the default of create_pretraining_data.py
    masking.py          many instances at once, in NumPy: with --num_processes,
                        --num_shards and the like (at_scale/)
    dynamic_masking.py  while training reads, in tf.data, with new masks in
                        every epoch: records made with --dynamic_masking
"""
