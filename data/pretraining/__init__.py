"""Creates pretraining instances and masks them.

documents.py reads text; instances.py creates the original's instances from
documents, in memory; parts.py and job.py do so for parts of a corpus of any
size. The two maskings choose and replace WordPieces with the same
probabilities:

    masking.py           with the original's random draws:
                         create_pretraining_data.py
    dynamic_masking.py   while training reads, in tf.data, with new masks in
                         every epoch: records made with --dynamic_masking
"""
