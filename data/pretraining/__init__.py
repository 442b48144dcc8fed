"""Creates pretraining instances and their masks.

What the creation of records begins with:

    pretraining_data_config.py: the flags of create_pretraining_data.py
    pretraining_options.py: the options for instances and masks, which other
        scripts share

As in Google's script, a corpus in memory becomes records in these steps:

    record_writing.py: `write_records_in_order`, which begins here. Encodes
        instances as records
    documents.py: reads text as documents: lists of sentences, each a list of
        WordPieces
    sentence_splitting.py: splits the lines of documents, for --sentence_split
    corpus_checks.py: warns of likely mistakes in the corpus
    instances.py: creates the instances of documents in memory, and masks them
        once, with the random draws of Google's code

A corpus of any size becomes records in units of work, which several processes
do. A unit reads some parts of the corpus, and writes some shards:

    sharded_writing.py: `write_records_at_scale`, which begins here, and the job
        that creates the units and combines their results
    instance_units.py: a unit, which writes its shards
    record_manifests.py: the manifest beside the records
    corpus_parts.py: splits the text files into parts of about 4 MB

Training reads the records:

    record_inspection.py: fingerprints their files, and reads their masking and
        lengths
    dynamic_masking.py: masks records of --dynamic_masking, with the same
        probabilities as instances.py, and new masks in every epoch
"""
