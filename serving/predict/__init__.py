"""Replies to the requests of files, pipes and command lines, for predict.py.

An `InputRow` is a request with its place in a file. Its reply becomes an
`OutputRow`, a row of the output, which keeps the columns of the input row.
data/predictions/output_writer.py writes the rows as JSON lines, CSV or npy.

    predict_config.py: the flags of predict.py
    predict_stages.py: the stages of predict.py, with the modules below

To reply to requests:

    input_rows.py: reads requests from files, or from arguments
    request_columns.py: finds the columns of the fields of a request in a row
    reply_loop.py: the main loop, from input rows to output rows, in batches of
        similar length, by `RowOptions`

To read a large input as a job. The input is cut into parts of about 4 MB. A
unit of the job reads one part and writes its replies, a shard such as
answers-00007-of-00128.csv. The contents of a shard depend only on the input,
the model and the flags, so any processes and machines can work on the units, in
any order, twice, and again after a kill. data/parallel_jobs/job.py
describes how a job resumes:

    bulk_setup.py: `BulkSetup`, the model and the flags, which all units share
    bulk_schema.py: finds the columns that all shards have
    bulk_job.py: `BulkJob`, whose units each read a part and write a shard
"""
