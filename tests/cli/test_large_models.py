"""A model larger than memory should be: info reads none of its weights, compile never holds them all.

NPUKIT_LARGE_MB makes it larger than the 300 MB that every run can afford; docs/fuzzing.md has the figures of 2.5 GB."""
import ctypes
import mmap
import os

import common
import large_model
from test_hostile import MIB, measured


def cached_pages(path):
    """How many pages of a file the system holds in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    size = os.path.getsize(path)
    with open(path, "rb") as f:
        # MAP_PRIVATE with write access, so that Python gives out an address; nothing is touched.
        view = mmap.mmap(f.fileno(), size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        anchor = ctypes.c_char.from_buffer(view)
        pages = (size + mmap.PAGESIZE - 1) // mmap.PAGESIZE
        there = (ctypes.c_ubyte * pages)()
        failed = libc.mincore(ctypes.c_void_p(ctypes.addressof(anchor)), ctypes.c_size_t(size), there)
        del anchor
        view.close()
    return None if failed else sum(p & 1 for p in there)


def forget(path):
    """Asks the system to let go of what it holds of the file."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def main():
    t = common.Test(__doc__)
    path, data, size = large_model.write(t.work, int(os.environ.get("NPUKIT_LARGE_MB", "300")))
    base = measured(t, "--version")["peak"]
    forget(data)
    before = cached_pages(data)
    info = measured(t, "info", path)
    after = cached_pages(data)
    t.equal(info["code"], 0, f"info: {info['err'][-300:]!r}")
    print(f"info: {(info['peak'] - base) / MIB:.1f} MiB over --version, of {size / MIB:.0f} MiB of data; pages of it read: "
          f"{after - before}")
    t.check(info["peak"] - base < 16 * MIB, f"info: {info['peak'] - base} bytes over --version")
    t.check(before is None or after - before <= 0, f"info read {after - before} pages of weights")
    for target in ("host", "kirin9030"):
        package = t.path(target + ".npk")
        made = measured(t, "compile", path, "-t", target, "-o", package, "-q")
        t.equal(made["code"], 0, f"compile for {target}: {made['err'][-300:]!r}")
        over = made["peak"] - base
        print(f"compile -t {target}: {over / MIB:.1f} MiB over --version, {over / size:.2f} of the data; {made['wall']:.1f} s; "
              f"package {os.path.getsize(package) / MIB if os.path.exists(package) else 0:.0f} MiB")
        t.check(over <= 1.5 * size, f"compile for {target}: {over} bytes over --version, expected at most {1.5 * size:.0f}")
        t.equal(t.run("info", package, "--verify").returncode, 0, "the package is whole")
        os.remove(package)
    for p in (path, data):
        os.remove(p)
    t.finish()


if __name__ == "__main__":
    main()
