"""Runs a script that was written for a newer torch than Debian's, as it is: `dynamo=False` says what 1.13 always does.

    python3 old_torch.py SCRIPT [ARGUMENT ...]
"""
import os
import runpy
import sys

import torch.onnx

_export = torch.onnx.export


def export(*args, dynamo=False, **rest):
    if dynamo:
        raise SystemExit("this torch has no dynamo exporter")
    return _export(*args, **rest)


torch.onnx.export = export
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
runpy.run_path(sys.argv[0], run_name="__main__")
