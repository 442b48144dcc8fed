"""Replies to requests over HTTP, for serve.py.

A process loads each `ExportToServe`, which becomes a `ServedModel`. Its server
receives HTTP requests, whose bodies contain requests to a text task, and the
model computes their replies. A `QueuedCall` contains the requests of one body,
and a `CallBatch` the calls that are computed together.

    serve_config.py: the flags of serve.py, with the limits on requests
    serve_steps.py: the steps of serve.py, with the modules below
    server_process.py: the process, which loads the models while it already
        listens, limits the time of each connection, and serves until SIGTERM
    app.py: the ASGI application, through which each request passes: the check
        of the token, the paths with their handlers, and the replies to requests
        that have no handler
    handlers.py: the replies to the requests of each path, whose bodies it reads
    served_models.py: what all requests share, and each model with its queue,
        and a thread that computes the calls
    call_queue.py: the requests of one body, as a call to the model, the calls
        that are computed together, and whose turn it is
    errors.py: the errors that handlers raise, each of which is a reply
    page/: the page that the server shows in a browser
"""
