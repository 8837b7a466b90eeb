"""A NumPy model of the simulated NPU, written from docs/npu_semantics.md."""
