"""One engine in a fresh process: from its own prepared file to the first result, and the memory that took.

    python3 footprint.py SPEC    SPEC: JSON, see `main`; prints {"load_ms": ..., "rss_bytes": ...}

The engine's library is in memory and the inputs are read before the clock starts: what is measured is the file becoming an
answer. Memory is the peak after the first inference less what was resident just before loading. Peers are set up by the
yardstick's own classes; npukit by its C API.
"""
import ctypes
import gc
import importlib
import json
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import yardstick  # noqa: E402

DTYPES = {"float32": 1, "int32": 12, "int64": 13, "uint8": 14, "bool": 22}  # npk_dtype of npukit/runtime.h


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("device", ctypes.c_char_p), ("precision", ctypes.c_char_p),
                ("threads", ctypes.c_int32)]


class Npukit:
    def __init__(self, library):
        self.lib = ctypes.CDLL(library)
        self.lib.npk_last_error.restype = ctypes.c_char_p

    def call(self, name, *args):
        if getattr(self.lib, name)(*args) != 0:
            raise SystemExit(f"{name}: {self.lib.npk_last_error().decode()}")

    def load(self, spec, arrays):
        options = Options(ctypes.sizeof(Options), b"CPU", None, spec["threads"])
        session, self.request, self.arrays = ctypes.c_void_p(), ctypes.c_void_p(), arrays
        self.call("npk_session_open", spec["file"].encode(), ctypes.byref(options), ctypes.byref(session))
        self.call("npk_request_create", session, ctypes.byref(self.request))
        for name, a in arrays.items():
            dims = (ctypes.c_int64 * a.ndim)(*a.shape)
            self.call("npk_request_bind_input", self.request, name.encode(), DTYPES[str(a.dtype)], dims, a.ndim,
                      ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(a.nbytes))

    def step(self):
        self.call("npk_request_run", self.request)


def status(field):
    with open("/proc/self/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(field + ":"))


def openvino_cache(folder):
    """Every compile_model of this process takes the blob that an earlier one left."""
    import openvino
    core = openvino.Core

    def cached():
        made = core()
        made.set_property({"CACHE_DIR": folder})
        return made
    openvino.Core = cached


def main():
    """SPEC: yardstick (folder), engine, file, threads, cpus, inputs (npz, in the model's order), names, outputs, variant;
    cache (OpenVINO: where blobs lie); library (npukit)."""
    spec = json.loads(sys.argv[1])
    os.sched_setaffinity(0, spec["cpus"])
    with np.load(spec["inputs"]) as held:
        arrays = {n: np.ascontiguousarray(a) for n, a in zip(spec["names"], held.values())}
    if spec["engine"] == "npukit":
        engine = Npukit(spec["library"])
    else:
        bench = yardstick.load(spec["yardstick"])
        importlib.import_module(bench.PACKAGES[spec["engine"]])
        engine = bench.CLASSES[spec["engine"]]()
        if spec["engine"] == "openvino":
            openvino_cache(spec["cache"])
    before_step = getattr(engine, "before", None)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what importing left free would hide what loading takes
    with open("/proc/self/clear_refs", "w", encoding="utf-8") as f:
        f.write("5")  # the peak starts anew
    resident, start = status("VmRSS"), time.perf_counter()
    engine.load(spec, arrays)
    if before_step:
        before_step()
    engine.step()
    took = time.perf_counter() - start
    print(json.dumps({"load_ms": took * 1e3, "rss_bytes": status("VmHWM") - resident}), flush=True)
    os._exit(0)  # engines' threads may not end by themselves


if __name__ == "__main__":
    main()
