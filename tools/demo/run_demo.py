#!/usr/bin/env python3
"""The demo: compiles PP-OCR's three networks for a phone's NPU (only when something changed), reads real photos and one drawn
Chinese line on the simulated NPU, and draws what was read. Called by ./dev demo."""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import time

import draw_chinese_line
import score
from PIL import Image, ImageDraw, ImageFont, ImageOps

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHAPES = {
    "det": ("x=1x3x736x736", "x=1x3x736x1024", "x=1x3x1024x736"),
    "cls": ("x=1x3x48x192",),
    "rec": ("x=1x3x48x320", "x=1x3x48x640", "x=1x3x48x960"),
}
DEVICE = "HETERO:NPU,CPU"
DRAWN = "drawn_chinese_line.png"
SHOWN_WIDTH = 640


def say(text):
    print(f"[demo] {text}", file=sys.stderr, flush=True)


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def compile_networks(npukit, target, models, folder):
    """The packages, compiled anew only if model, compiler, target or shapes differ from last time."""
    os.makedirs(folder, exist_ok=True)
    packages = {}
    profile = os.path.join(ROOT, "profiles", target + ".json")
    for network, shapes in SHAPES.items():
        model = os.path.join(models, f"ppocrv4_{network}.onnx")
        package = packages[network] = os.path.join(folder, f"{network}_{target}.npk")
        made_of = {"model": sha256(model), "npukit": sha256(npukit), "target": target, "shapes": shapes,
                   "profile": sha256(profile) if os.path.exists(profile) else None}
        stamp = json.dumps(made_of, sort_keys=True)
        if os.path.exists(package) and os.path.exists(package + ".made_of"):
            with open(package + ".made_of", encoding="utf-8") as f:
                if f.read() == stamp:
                    continue
        say(f"compiling {network} for {target}, {len(shapes)} shape{'s' if len(shapes) > 1 else ''}")
        start = time.monotonic()
        command = [npukit, "compile", model, "-t", target, "-o", package]
        for shape in shapes:
            command += ["--shape", shape]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)
        with open(package + ".made_of", "w", encoding="utf-8") as f:
            f.write(stamp)
        say(f"  {os.path.getsize(package) / 2**20:.1f} MiB in {time.monotonic() - start:.1f} s")
    return packages


def draw_reading(photo, font_path, path):
    """The photo with its boxes numbered, and beside it what was read in each."""
    picture = ImageOps.exif_transpose(Image.open(photo["file"])).convert("RGB")
    scale = SHOWN_WIDTH / picture.width
    picture = picture.resize((SHOWN_WIDTH, round(picture.height * scale)))
    rows = [f"{i}  {line['text']}  {line['confidence']:.2f}" for i, line in enumerate(photo["lines"], 1)] or ["(nothing read)"]
    font, small = ImageFont.truetype(font_path, 22), ImageFont.truetype(font_path, 14)
    panel = max(360, 40 + max(round(font.getlength(row)) for row in rows))
    title = os.path.basename(photo["file"]) + (" (drawn)" if os.path.basename(photo["file"]) == DRAWN else "")
    sheet = Image.new("RGB", (picture.width + panel, max(picture.height, 60 + 34 * len(rows))), "white")
    sheet.paste(picture, (0, 0))
    pen = ImageDraw.Draw(sheet)
    for i, line in enumerate(photo["lines"], 1):
        corners = [(x * scale, y * scale) for x, y in line["box"]]
        pen.line(corners + corners[:1], fill=(230, 30, 30), width=2)
        x, y = corners[0]
        pen.rectangle((x - 2, y - 17, x + small.getlength(str(i)) + 2, y - 1), fill=(230, 30, 30))
        pen.text((x, y - 17), str(i), font=small, fill="white")
    pen.text((picture.width + 20, 16), title, font=small, fill=(110, 110, 110))
    for i, row in enumerate(rows):
        pen.text((picture.width + 20, 48 + 34 * i), row, font=font, fill="black")
    sheet.save(path)


def compare_with_truth(reading):
    """Against the truth where it is known; the drawn line's is what was drawn."""
    with open(os.path.join(ROOT, "tests", "e2e", "truth.json"), encoding="utf-8") as f:
        truth = {name: entry["truth"] for name, entry in json.load(f)["photos"].items()}
    truth[DRAWN] = [draw_chinese_line.TEXT]
    print("\nAgainst what is written there (case and spaces apart, lines in reading order):")
    for photo in reading["photos"]:
        name = os.path.basename(photo["file"])
        if name in truth:
            wrong = score.distance([line["text"] for line in photo["lines"]], truth[name])
            print(f"  {name:24} {wrong} of {len(score.joined(truth[name]))} characters off")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, text in (("bin", "folder of npukit and npukit-ocr"), ("models", "folder of ppocrv4_*.onnx and the alphabet"),
                       ("photos", "folder of photographs"), ("fonts", "folder of wqy-microhei.ttc"),
                       ("out", "folder for packages and results")):
        parser.add_argument("--" + name, required=True, help=text)
    parser.add_argument("--target", default="kirin9030", help="profile to compile for (default: %(default)s)")
    args = parser.parse_args()
    start = time.monotonic()
    os.makedirs(args.out, exist_ok=True)
    npukit, ocr = (os.path.join(args.bin, name) for name in ("npukit", "npukit-ocr"))
    packages = compile_networks(npukit, args.target, args.models, os.path.join(args.out, "packages"))

    font = os.path.join(args.fonts, "wqy-microhei.ttc")
    drawn = os.path.join(args.out, DRAWN)
    draw_chinese_line.draw(font).save(drawn)
    photos = [os.path.join(args.photos, n) for n in sorted(os.listdir(args.photos)) if n.endswith((".jpg", ".png"))]
    say(f"reading {len(photos)} photos and one drawn Chinese line ({DRAWN})")
    report = os.path.join(args.out, "ocr.json")
    command = [ocr, "--keys", os.path.join(args.models, "ppocr_keys_v1.txt"), "-d", DEVICE, "-o", report,
               "--report-folder", args.out]
    for network, package in packages.items():
        command += ["--" + network, package]
    result = subprocess.run(command + photos + [drawn], check=False, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        return result.returncode

    with open(report, encoding="utf-8") as f:
        reading = json.load(f)
    compare_with_truth(reading)
    for photo in reading["photos"]:
        name = os.path.splitext(os.path.basename(photo["file"]))[0]
        draw_reading(photo, font, os.path.join(args.out, name + "_read.png"))
    print(f"\nReport, to open in any browser: {os.path.join(args.out, 'ocr.html')}")
    print(f"Pictures with boxes: {args.out}/*_read.png; everything as JSON: {report}")
    say(f"{time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
