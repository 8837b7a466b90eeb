"""npukit-ocr reads all photos on one device; onnxruntime judges every network output on the inputs the program dumped, the
same steps on onnxruntime's outputs must give the same strings, and no photo is read worse than in the recorded reading."""
import html
import os
import re
import shutil

import common
import numpy as np


def check_account(checks, reading, device):
    for network in reading["networks"]:
        units = network["compute_units"]
        name = f"{network['network']} on {network['device']}"
        checks.check(units["total"] > 0, f"{name}: no node counted")
        checks.check(sum(units[k] for k in ("NPU", "GPU", "CPU", "folded")) == units["total"], f"{name}: {units}")
        checks.check(network["target"] == common.TARGET, f"{name}: target {network['target']}")
        if device == "CPU" or network["network"] == common.STAYS_ON_CPU:
            checks.check(units["NPU"] == 0 and units["CPU"] > 0, f"{name}: {units}")
        else:
            checks.check(units["NPU"] > 0, f"{name}: {units}")
            checks.check(f"simulated {common.TARGET}" in network["device"], f"{name}: should name the simulator")
            checks.check(network["energy_mj"] is not None and network["energy_mj"] > 0, f"{name}: no energy")
        # Every device's time comes from the profile for a target that is not the host.
        checks.check(network["kind"] == "modelled" and network["latency_ms"] > 0, f"{name}: {network['kind']} latency")
    checks.check({n["network"] for n in reading["networks"]} == set(common.NETWORKS), "an account per network")


def check_page(checks, reading, folder):
    """ocr.html shows every photo once, with the boxes and texts of the JSON, in its order."""
    with open(os.path.join(folder, "ocr.html"), encoding="utf-8") as f:
        page = f.read()
    figures = re.findall(r'<figure class="card picture">(.*?)</figure>', page, re.S)
    checks.check(len(figures) == len(reading["photos"]), f"{len(figures)} photos in the page of {len(reading['photos'])}")
    for figure, photo in zip(figures, reading["photos"]):
        name = os.path.basename(photo["file"])
        checks.check(name in figure and "data:image/jpeg;base64,/9j/" in figure, f"{name}: not in the page")
        texts = re.findall(r"<li><button.*?<bdi>(.*?)</bdi>", figure, re.S)
        checks.check([html.unescape(t) for t in texts] == [line["text"] for line in photo["lines"]], f"{name}: texts {texts}")
        boxes = [np.array([p.split(",") for p in points.split()], float) for points in re.findall(r'points="([^"]*)"', figure)]
        expected = [np.array(line["box"]) for line in photo["lines"]]
        checks.check(len(boxes) == len(expected) and all(np.abs(b - e).max() <= 0.051 for b, e in zip(boxes, expected)),
                     f"{name}: boxes {boxes}, expected {expected}")
    checks.check("modelled" in page and "measured" in page, "the page says no kinds")


def main():
    args = common.arguments(__doc__)
    checks, reference = common.Checks(), common.Reference()
    dump = os.path.join(args.work, "photos_" + args.device.replace(":", "_").replace(",", "_"))
    expected = os.path.join(dump, "expected")
    shutil.rmtree(dump, ignore_errors=True)
    os.makedirs(expected)
    photos = common.photos(args)
    packages = [part for n in common.NETWORKS for part in ("--" + n, common.package(args, n))]
    reading = common.run_json([args.ocr] + packages + ["--keys", common.keys(), "-d", args.device, "--dump", dump, "--json",
                               "--report-folder", dump] + photos)
    check_page(checks, reading, dump)
    check_account(checks, reading, args.device)

    for name in sorted(n for n in os.listdir(dump) if n.endswith(".npy")):
        value = reference.run(name[:3], np.load(os.path.join(dump, name)))
        np.save(os.path.join(expected, name), value)
        found = np.load(os.path.join(dump, "outputs", name))
        if args.device != "CPU" and name.startswith(common.STAYS_ON_CPU):
            common.compare(checks, name, found, value, "CPU")
            found = common.run_all_on_npu(args, name[:3], np.load(os.path.join(dump, name)), os.path.join(dump, "npu"))
        common.compare(checks, name, found, value, args.device)

    replayed = common.run_json([args.ocr, "--replay", expected, "--keys", common.keys(), "--json"] + photos)
    found, same = common.texts(reading), common.texts(replayed)
    for name in found:
        checks.check(found[name] == same[name], f"{name}: read {found[name]}, with onnxruntime's outputs {same[name]}")
    common.check_distances(checks, reading)
    checks.finish()


if __name__ == "__main__":
    main()
