"""Types of `tf.data.experimental`."""

class AutotuneOptions:
    enabled: bool

class AutoShardPolicy:
    DATA: AutoShardPolicy

class DistributeOptions:
    auto_shard_policy: AutoShardPolicy
