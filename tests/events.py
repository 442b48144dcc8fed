"""Reads the files that a run wrote for TensorBoard."""

import tensorflow as tf


def scalars(folder):
    """Returns {tag: {step: value}} of what TensorBoard would show."""
    found = {}
    for path in folder.glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "hparams":
                    continue
                tensor = tf.make_ndarray(value.tensor)
                found.setdefault(value.tag, {})[event.step] = float(tensor)
    return found


def hyperparameters(folder):
    """Returns {name: value} of what TensorBoard's HPARAMS page would show."""
    from tensorboard.plugins.hparams import plugin_data_pb2

    found = {}
    for path in folder.glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                plugin = value.metadata.plugin_data
                if plugin.plugin_name == "hparams":
                    data = plugin_data_pb2.HParamsPluginData()
                    data.ParseFromString(plugin.content)
                    start = data.session_start_info.hparams
                    found |= {
                        name: getattr(one, one.WhichOneof("kind"))
                        for name, one in start.items()
                    }
    return found
