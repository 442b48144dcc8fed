"""Types of `tf.distribute.cluster_resolver`."""

class TPUClusterResolver:
    def __init__(
        self,
        tpu: str | None = None,
        zone: str | None = None,
        project: str | None = None,
    ) -> None: ...
