"""Types of `tf.lite`."""

from collections.abc import Sequence

class Optimize:
    DEFAULT: Optimize

class OpsSet:
    TFLITE_BUILTINS: OpsSet

class TargetSpec:
    supported_ops: Sequence[OpsSet]

class TFLiteConverter:
    optimizations: Sequence[Optimize]
    target_spec: TargetSpec
    @classmethod
    def from_saved_model(
        cls,
        saved_model_dir: str,
        signature_keys: Sequence[str] | None = None,
    ) -> TFLiteConverter: ...
    def convert(self) -> bytes: ...
