"""A model in onnxruntime's own format as ONNX: what its authors' runtime would run, operator by operator.

    ort_to_onnx.py IN.ort OUT.onnx

Run by ./dev setup --networks in .cache/venv; the bytes are the same each time."""
import sys

import onnx
import onnxruntime


def convert(source, target):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.optimized_model_filepath = target
    options.add_session_config_entry("session.save_model_format", "ONNX")
    onnxruntime.set_default_logger_severity(3)
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    model = onnx.load(target)
    for node in model.graph.node:  # onnxruntime leaves the branches of If without the name that ONNX wants
        for attribute in node.attribute:
            if attribute.HasField("g") and not attribute.g.name:
                attribute.g.name = attribute.name
    onnx.save(model, target)


if __name__ == "__main__":
    convert(*sys.argv[1:3])
