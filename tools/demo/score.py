#!/usr/bin/env python3
"""How far a reading is from the truth: edit distance over the lines joined in reading order, case and spaces removed."""
import json
import os
import sys


def edit_distance(a, b):
    """Insertions, deletions and replacements that turn `a` into `b` (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above_left, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above_left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above_left + (x != y))
    return row[-1]


def joined(lines):
    return "".join("".join(lines).lower().split())


def distance(lines, truth):
    return edit_distance(joined(lines), joined(truth))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: score.py OCR.json TRUTH.json   (what npukit-ocr --json printed; tests/e2e/truth.json)")
    with open(sys.argv[1], encoding="utf-8") as f:
        photos = json.load(f)["photos"]
    with open(sys.argv[2], encoding="utf-8") as f:
        truth = json.load(f)["photos"]
    worse = False
    for photo in photos:
        name = os.path.basename(photo["file"])
        if name not in truth:
            continue
        entry = truth[name]
        found = distance([line["text"] for line in photo["lines"]], entry["truth"])
        bound = distance(entry["recorded"], entry["truth"])
        worse |= found > bound
        print(f"{name}: {found} characters off of {len(joined(entry['truth']))}; recorded reading: {bound}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
