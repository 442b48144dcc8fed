"""Processes large inputs in units, in processes or on Beam, and can resume.

A job is a large input, such as a corpus to mask. A `WorkUnit` is a part of its
work, such as 4 MB of the corpus. A unit may be done by any process, in any
order, and twice:

    job.py: `Job`, which checks, runs and resumes a job of any kind
    job_files.py: the names and entries of job.json, of the result files of
        units and of the manifest, and what writes and compares them
    workers.py: runs a function in worker processes
    beam_pipeline.py: runs a function on the workers of Apache Beam
    cpus.py: the number of CPUs that a process may use
    beam_options.py: the flags of a script that can run on Apache Beam
"""
