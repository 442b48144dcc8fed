"""Answers the requests of large inputs, in units that write a file each.

The input is cut into parts of about 4 MB. A unit reads one part and writes its
replies, a shard such as answers-00007-of-00128.csv. The contents of a shard
depend only on the input, the model and the flags, so any processes and machines
can work on the units, in any order, twice, and again after a kill.
data/jobs/sharded_job.py describes how a job resumes.

    job.py: runs the units, and resumes earlier work
    bulk_settings.py: `BulkSettings`, which all units of a job share
    schema.py: finds the columns that all shards have
"""
