"""Reads the files that a run wrote for TensorBoard."""

import html

import tensorflow as tf


def scalars(folder):
    """Returns {tag: {step: value}} of what TensorBoard would show."""
    found = {}
    for path in folder.glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                if plugin in ("hparams", "text"):
                    continue
                tensor = tf.make_ndarray(value.tensor)
                found.setdefault(value.tag, {})[event.step] = float(tensor)
    return found


def texts(folder):
    """Returns {tag: {step: rows}} of TensorBoard's TEXT page, as it reads.

    A row is {column: text}.
    """
    from tensorboard import plugin_util

    def shown(cell):
        page = plugin_util.markdown_to_safe_html(cell)
        assert page == "" or page.startswith("<p>") and "<" not in page[3:-4]
        return html.unescape(page[3:-4])

    found = {}
    for path in folder.glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "text":
                    columns, *rows = tf.make_ndarray(value.tensor).tolist()
                    steps = found.setdefault(value.tag, {})
                    assert event.step not in steps
                    steps[event.step] = [
                        dict(
                            zip(
                                [name.decode() for name in columns],
                                map(shown, row),
                                strict=True,
                            )
                        )
                        for row in rows
                    ]
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
