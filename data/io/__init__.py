"""Reads text files, compressed or remote too. Reads and writes TFRecords.

Text:

    text_files.py: the lines of a file, and the files that a pattern names
    compressed_files.py: decompresses a file by its first bytes
    encodings.py: finds the encoding of a text

The bytes of any file:

    file_checksums.py: checksums, which show whether a file has changed

Records:

    feature_specs.py: the features of each task's records
    tf_examples.py: encodes records without TensorFlow
    tfrecords.py: writes, reads and counts records without TensorFlow
    record_datasets.py: batches of records as tensors, in a repeatable order
    record_checks.py: finds the record that does not fit, and names its file
"""
