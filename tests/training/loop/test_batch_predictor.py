"""How often the graph of a prediction is traced, and outputs of NaN."""

import numpy as np

from tests.support.two_weight_model import TwoWeightModel, create_batches
from training.loop.batch_predictor import BatchPredictor


def test_a_metric_traces_the_network_once():
    traced = []

    def first_output(outputs, features):
        traced.append(features)
        return outputs[0]

    model = TwoWeightModel()
    predictor = BatchPredictor(model, jit_compile=False)
    results = []
    for weight in (1.0, 2.0, 4.0):
        model.one.assign(weight)
        (result,) = predictor.compute_metrics(
            create_batches([3.0])[:1], first_output
        )
        results.append(result[1])
    assert len(traced) == 1
    np.testing.assert_array_equal(
        results, [[3.0, 3.0], [6.0, 6.0], [12.0, 12.0]]
    )


def test_outputs_of_nan_are_reported_once(caplog):
    predictor = BatchPredictor(TwoWeightModel(), jit_compile=False)
    dataset = create_batches([1, np.nan, 1, np.nan])[:5]
    assert len(list(predictor.predict(dataset))) == 5
    logged = [r.message for r in caplog.records if "NaN" in r.message]
    assert len(logged) == 1
    assert "from batch 2 on" in logged[0]
