"""Creates pretraining instances and masks them.

documents.py reads text. instances.py converts documents that are in memory to
the same instances as Google's code. For a corpus of any size, job.py splits the
text files into parts of about 4 MB, and creates the instances of each part in
several processes. Two modules mask WordPieces, with the same probabilities:

    instances.py         masks instances in create_pretraining_data.py, with
                         the random draws of Google's code
    dynamic_masking.py   masks records of --dynamic_masking while training
                         reads them, with new masks in every epoch
"""
