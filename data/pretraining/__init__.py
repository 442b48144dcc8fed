"""Creates pretraining instances and masks them.

documents.py reads text. instances.py turns documents in memory into the same
instances as Google's code. parts.py and job.py do this for a corpus of any
size, part by part. Two modules mask WordPieces, with the same probabilities:

    masking.py           masks instances in create_pretraining_data.py, with
                         the random draws of Google's code
    dynamic_masking.py   masks records of --dynamic_masking while training
                         reads them, with new masks in every epoch
"""
