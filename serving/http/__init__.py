"""Replies to requests over HTTP, for serve.py.

A process loads each `ExportToServe`, whose model gets a `ModelWorker`. Its
server receives HTTP requests, whose bodies contain requests to a text task, and
the worker computes their replies. A `QueuedCall` contains the requests of one
body, and a `CallBatch` the calls that are computed together.

    serve_config.py: the flags of serve.py, with the limits on requests
    serve_stages.py: the stages of serve.py, with the modules below
    server_process.py: the process, which loads the models while it already
        listens, and serves until SIGTERM
    timed_server.py: uvicorn's server, with limits on the time of each
        connection
    app.py: the ASGI application, through which each request passes, and which
        refuses requests without the token
    routes.py: the paths, the handler of each, and the replies to requests that
        have no handler
    handlers.py: the replies to the requests of each path
    request_bodies.py: reads a body, unless it is too large, and parses its JSON
        into requests
    server_state.py: the exports, their models once they are loaded, and the
        limits, which all requests share
    model_worker.py: the queue of the calls to a model, and the thread that
        computes them
    call_queue.py: the requests of one body, as a call to the model, the calls
        that are computed together, and whose turn it is
    errors.py: the errors that handlers raise, each of which is a reply
    page/: the page that the server shows in a browser
"""
