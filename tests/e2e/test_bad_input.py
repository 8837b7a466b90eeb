"""npukit-ocr answers bad input with one clear line and the right exit code, and leaves nothing half-written."""
import os
import shutil

import common


def main():
    args = common.arguments(__doc__)
    checks = common.Checks()
    folder = os.path.join(args.work, "bad_input")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)

    def file(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    photo = common.photos(args)[0]
    packages = {n: common.package(args, n) for n in common.NETWORKS}
    with open(packages["cls"], "rb") as f:
        cls = f.read()

    def ocr(code, said, photos=(photo,), stdout=None, keys=common.keys(), extra=(), **changed):
        command = [args.ocr, "--keys", keys, "-d", "CPU"] + list(extra)
        for network, path in {**packages, **changed}.items():
            command += ["--" + network, path]
        with open(stdout or os.devnull, "wb") as out:
            error = common.run(command + list(photos), expect=code, stdout=out).stderr
        lines = [line for line in error.splitlines() if "photo 1 of" not in line]  # progress
        checks.check(len(lines) == 1 and said in lines[0], f"expected one line with {said!r}, found {error!r}")

    missing = os.path.join(folder, "missing")
    ocr(2, "missing: no such file", photos=[missing])
    ocr(2, "empty.jpg: not a picture", photos=[file("empty.jpg", b"")])
    ocr(2, "text.jpg: not a picture", photos=[file("text.jpg", b"no picture at all")])
    with open(photo, "rb") as f:
        ocr(2, "head.jpg: not a picture", photos=[file("head.jpg", f.read(100))])
    ocr(2, "expected a file", photos=[folder])
    ocr(2, "missing", keys=missing)
    ocr(2, "expected 1xTx5", keys=file("keys.txt", b"a\nb\nc\n"))
    ocr(2, "missing", det=missing)
    ocr(2, "empty.npk", cls=file("empty.npk", b""))
    ocr(2, "short.npk", cls=file("short.npk", cls[:1000]))
    ocr(2, "model.npk", cls=file("model.npk", b"\x08\x07" + cls[2:]))
    for position in range(0, 64, 7):
        flipped = bytearray(cls)
        flipped[position] ^= 1 << (position % 8)
        ocr(2, "flipped.npk", cls=file("flipped.npk", bytes(flipped)))
    ocr(2, "is this the right network?", cls=packages["rec"])
    ocr(2, "cannot be made a folder", extra=["--dump", file("file", b"")])
    ocr(3, "standard output: writing failed", stdout="/dev/full")
    device = ["-d", "TPU"]
    error = common.run([args.ocr, "--keys", common.keys(), "--det", packages["det"], "--cls", packages["cls"], "--rec",
                        packages["rec"]] + device + [photo], expect=2).stderr
    checks.check(error.count("\n") == 1 and "TPU" in error, f"expected one line that names the device, found {error!r}")
    left = [n for n in os.listdir(folder) if n.endswith(".part")]
    checks.check(not left, f"left behind: {left}")
    checks.finish()


if __name__ == "__main__":
    main()
