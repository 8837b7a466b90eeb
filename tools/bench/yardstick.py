"""The yardstick's script as a module: what it knows about models and engines is not written again here."""
import importlib.util
import os


def load(folder):
    path = os.path.join(folder, "bench_peers.py")
    spec = importlib.util.spec_from_file_location("bench_peers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
