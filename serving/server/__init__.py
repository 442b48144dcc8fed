"""The server of serve.py, for clients of TensorFlow Serving and KServe."""
