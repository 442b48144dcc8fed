"""The server of serve.py: the protocols of TensorFlow Serving and KServe."""
