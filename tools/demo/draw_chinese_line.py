#!/usr/bin/env python3
"""Draws one line of Chinese text on a board seen at an angle, with noise: no photograph with Chinese text is at hand, so this
picture is drawn, and is called *drawn* wherever its reading is shown. The same seed gives the same pixels."""
import argparse
import os

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

TEXT = "神经网络在手机上运行"
SIZE = (960, 720)
BOARD = (820, 150)
# Where the board's corners come to lie: upper left, upper right, lower right, lower left.
CORNERS = ((90, 330), (860, 255), (875, 400), (80, 455))


def perspective(source, target):
    """The eight numbers Pillow wants: they take a point of the result (target) to one of the source."""
    rows, right = [], []
    for (x, y), (u, v) in zip(target, source):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return np.linalg.solve(np.array(rows, float), np.array(right, float))


def draw(font_path, seed=0):
    rng = np.random.default_rng(seed)
    board = Image.new("RGB", BOARD, (38, 82, 128))
    pen = ImageDraw.Draw(board)
    font = ImageFont.truetype(font_path, 72)
    left, top, right, bottom = pen.textbbox((0, 0), TEXT, font=font)
    pen.text(((BOARD[0] - right - left) / 2, (BOARD[1] - bottom - top) / 2), TEXT, font=font, fill=(240, 240, 228))

    # A wall in uneven light.
    y, x = np.mgrid[0:SIZE[1], 0:SIZE[0]]
    light = 150 + 40 * x / SIZE[0] - 30 * y / SIZE[1]
    wall = Image.fromarray(np.stack([light, light * 0.97, light * 0.9], -1).astype(np.uint8))

    w, h = BOARD
    numbers = perspective(((0, 0), (w, 0), (w, h), (0, h)), CORNERS)
    tilted = board.transform(SIZE, Image.Transform.PERSPECTIVE, numbers, Image.Resampling.BICUBIC)
    mask = Image.new("L", BOARD, 255).transform(SIZE, Image.Transform.PERSPECTIVE, numbers, Image.Resampling.BICUBIC)
    wall.paste(tilted, (0, 0), mask)
    pixels = np.asarray(wall.filter(ImageFilter.GaussianBlur(1.0)), float)
    pixels += rng.normal(0, 8, pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--font", required=True, help="a font with Chinese characters")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", required=True, help="PNG to write; its text goes beside it as .txt")
    args = parser.parse_args()
    draw(args.font, args.seed).save(args.output)
    with open(os.path.splitext(args.output)[0] + ".txt", "w", encoding="utf-8") as f:
        f.write(TEXT + "\n")


if __name__ == "__main__":
    main()
