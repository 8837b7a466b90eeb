"""Numbers and single instructions of tools/npu_model against values worked out by hand."""

import struct
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from npu_model import instructions as ins  # noqa: E402
from npu_model import machine, numbers as num  # noqa: E402
from npu_model.numbers import f32  # noqa: E402


def bits16(x):
    return int(num.fl16(np.array([x], dtype=f32)).view(np.uint16)[0])


def bits32(x):
    return int(np.atleast_1d(np.asarray(x, dtype=f32)).view(np.uint32)[0])


def from_bits(b):
    return np.array([b], dtype=np.uint32).view(f32)


def nearest16(x):
    """fp16 of a finite float by exact arithmetic on the grid of representable values."""
    exponent = max(int(np.floor(np.log2(abs(x)))) if x else -14, -14)
    ulp = 2.0 ** (exponent - 10)
    value = float(np.rint(float(x) / ulp)) * ulp      # exact: powers of two, ties to even
    return np.inf * np.sign(x) if abs(value) >= 65536 else value


class Rounding(unittest.TestCase):
    def test_fp16(self):
        for value, want in [(1.0, 0x3C00), (65504.0, 0x7BFF), (65519.996, 0x7BFF), (65520.0, 0x7C00),
                            (-65520.0, 0xFC00), (1 + 2.0 ** -11, 0x3C00), (1 + 3 * 2.0 ** -11, 0x3C02),
                            (1 + 2.0 ** -11 + 2.0 ** -20, 0x3C01), (2.0 ** -14, 0x0400), (2.0 ** -24, 0x0001),
                            (2.0 ** -25, 0x0000), (1.5 * 2.0 ** -24, 0x0002), (2.0 ** -25 * (1 + 2.0 ** -23), 0x0001),
                            (-2.0 ** -25, 0x8000), (-0.0, 0x8000), (np.inf, 0x7C00), (1e-45, 0)]:
            self.assertEqual(bits16(value), want, value)
        self.assertTrue(np.isnan(num.fl16(f32(np.nan))))
        self.assertTrue(np.isnan(num.fl16(from_bits(0x7F800001)))[0])

    def test_fp16_by_exact_arithmetic(self):
        rng = np.random.default_rng(5)
        x = (rng.standard_normal(3000) * 2.0 ** rng.integers(-27, 17, 3000)).astype(f32)
        for a, b in zip(x, num.fl16(x)):
            self.assertEqual(nearest16(a), float(b), a)

    def test_subnormals_stay(self):
        self.assertEqual(bits32(from_bits(1) + from_bits(2)), 3)
        self.assertEqual(bits32(from_bits(0x00800000) * f32(0.5)), 0x00400000)
        self.assertEqual(float(num.widen(np.array([1], dtype=np.uint16).view(np.float16))[0]), 2.0 ** -24)

    def test_max_min(self):
        zero, minus = np.array([0.0], dtype=f32), np.array([-0.0], dtype=f32)
        nan, one = np.array([np.nan], dtype=f32), np.array([1.0], dtype=f32)
        self.assertEqual(bits32(num.maximum(zero, minus)), 0x80000000)
        self.assertEqual(bits32(num.maximum(minus, zero)), 0)
        self.assertEqual(bits32(num.minimum(minus, zero)), 0)
        self.assertEqual(bits32(num.minimum(zero, minus)), 0x80000000)
        for f in (num.maximum, num.minimum):
            self.assertTrue(np.isnan(f(nan, one))[0])
            self.assertTrue(np.isnan(f(one, nan))[0])

    def test_relu(self):
        self.assertEqual(bits32(num.relu(f32([-0.0]))), 0x80000000)
        self.assertEqual(bits32(num.relu(f32([-1.0]))), 0)
        self.assertTrue(np.isnan(num.relu(f32([np.nan])))[0])

    def test_convert(self):
        def to(values, src, dst):
            return num.convert(np.array(values, dtype=num.DTYPE[src]), src, dst).tolist()

        self.assertEqual(to([0.5, 1.5, 2.5, -0.5, -1.5, np.nan], num.FP32, num.INT32), [0, 2, 2, 0, -2, 0])
        self.assertEqual(to([np.inf, -np.inf, 2147483648.0, -2147483648.0, 2147483520.0], num.FP32, num.INT32),
                         [2147483647, -2147483648, 2147483647, -2147483648, 2147483520])
        self.assertEqual(to([127.5, -128.5, -129, 126.5, np.inf], num.FP16, num.INT8), [127, -128, -128, 126, 127])
        self.assertEqual(to([300, -300, 5], num.INT32, num.INT8), [127, -128, 5])
        self.assertEqual(to([16777217, 16777219], num.INT32, num.FP32), [16777216.0, 16777220.0])
        self.assertEqual(to([70000, -70000, 2049, 2051], num.INT32, num.FP16), [np.inf, -np.inf, 2048.0, 2052.0])
        self.assertEqual(to([-128], num.INT8, num.INT32), [-128])

    def test_words(self):
        self.assertEqual(num.word_of_float(1.0), 0x3F800000)
        self.assertEqual(num.word_of_float(-0.0), -2 ** 31)
        self.assertEqual(num.float_of_word(-1082130432), f32(-1.0))
        self.assertEqual(num.wrap32([2 ** 31, -2 ** 31 - 1]).tolist(), [-2 ** 31, 2 ** 31 - 1])


class Functions(unittest.TestCase):
    def test_exp(self):
        # x = 0: n = 0, r = 0, y = 0, so 1. x = 1: n = 1, r = 1 - 0.693359375 + 2.1219444e-4.
        self.assertEqual(num.exp(f32([0.0, -0.0])).tolist(), [1.0, 1.0])
        self.assertEqual(bits32(num.exp(f32([1.0]))), 0x402DF854)
        special = num.exp(f32([np.inf, -np.inf, 88.73, -87.34, np.nan]))
        self.assertEqual(special[:4].tolist(), [np.inf, 0.0, np.inf, 0.0])
        self.assertTrue(np.isnan(special[4]))
        edge = num.exp(f32([88.72283, -87.33654]))
        self.assertTrue(np.isfinite(edge).all() and (edge > 0).all())

    def test_ln(self):
        self.assertEqual(bits32(num.ln(f32([1.0]))), 0)
        # x = 2: m = 0.5, e = 2, so e = 1, m = 0: ln = -2.12194440e-4 + 0.693359375.
        self.assertEqual(bits32(num.ln(f32([2.0]))), bits32(f32("-2.12194440e-4") + f32("0.693359375")))
        special = num.ln(f32([0.0, -0.0, np.inf, -1.0, -np.inf, np.nan]))
        self.assertEqual(special[:3].tolist(), [-np.inf, -np.inf, np.inf])
        self.assertTrue(np.isnan(special[3:]).all())
        self.assertAlmostEqual(float(num.ln(from_bits(1))[0]), -149 * np.log(2), places=4)

    def test_close_to_exact(self):
        x = np.linspace(-87, 88, 4001).astype(f32)
        self.assertLess(np.abs(num.exp(x) / np.exp(x.astype(np.float64)) - 1).max(), 1e-7)
        y = np.exp(np.linspace(-100, 88, 4001)).astype(f32)
        want = np.log(y.astype(np.float64))
        self.assertLess((np.abs(num.ln(y) - want) / np.maximum(1, np.abs(want))).max(), 1e-7)


def run_one(code, input_bytes, output_bytes, bits=32, load=None, tiles=(1, 1)):
    sizes = {ins.L1: 4096, ins.UB: 4096, ins.L0A: 2048, ins.L0B: 2048, ins.L0C: 2048}
    program = machine.Program(bits, sizes, 0, [input_bytes], [output_bytes])
    words = []
    for opcode, operands in code:
        words += [opcode | len(operands) << 8] + operands
    program.tasks = [[machine.Group(tiles[0], tiles[1], [], words)]]
    return machine.run(program)[0]


def copy_words(dst, src, n):
    return 1, dst + src + [1] * 3 + [0] * 6 + [n]


class Instructions(unittest.TestCase):
    def test_mmad_order(self):
        # One block: 2048 + 1 in fp16 is lost only after the block's sum: 2048 + (1 + 1) = 2050.
        # Two blocks: (2048 + 1 -> 2048) + 1 -> 2048.
        for split, want in ((False, 2050.0), (True, 2048.0)):
            a = np.zeros((2, 16, 16), dtype=np.float16)
            b = np.zeros((2, 16, 16), dtype=np.float16)
            b[:, 0, :] = 1
            a[0, 0, 0] = 1
            a[1 if split else 0, 0, 1] = 1
            bias = np.full(16, 2048, dtype=f32)
            data = a.tobytes() + b.tobytes() + bias.tobytes()
            code = [copy_words([4, 0, 0, 0, 0], [0, 0, 0, 0, 0], len(data)),
                    (4, [6, 0, 0, 1, 2, 0, 512, 0, 512, 0]),
                    (4, [7, 0, 1024, 1, 2, 0, 512, 0, 512, 0]),
                    (5, [0, 0, 0, 0, 512, 0, 0, 1, 2, 1, 2, 2048]),
                    (6, [0, 0, 0, 0, 1, 1, 0, 1, 0, -1]),
                    copy_words([1, 0, 0, 0, 0], [5, 0, 0, 0, 0], 64)]
            self.assertEqual(struct.unpack("<16f", run_one(code, data, 64, bits=16))[0], want)

    def test_lanes_sum_order(self):
        # 17 values: x[16] joins x[0] first; 1 is lost beside 2^24 (ties to even).
        x = np.zeros(17, dtype=f32)
        x[0], x[16], x[8] = 2.0 ** 24, 1, 1
        code = [copy_words([5, 0, 0, 0, 0], [0, 0, 0, 0, 0], 68),
                (10, [2, 1, 1, 1024, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 17]),
                copy_words([1, 0, 0, 0, 0], [5, 0, 1024, 0, 0], 4)]
        self.assertEqual(struct.unpack("<f", run_one(code, x.tobytes(), 4))[0], 2.0 ** 24)

    def test_tiles_and_fill(self):
        code = [(2, [5, 0, 1, 2, 0, 4, 2, 3, -1]), (2, [5, 2, 1, 2, 0, 4, 2, 3, 7]),
                (1, [1, 0, 0, 16, 8] + [5, 0, 0, 0, 0] + [1] * 3 + [0] * 6 + [8])]
        self.assertEqual(run_one(code, b"", 32, tiles=(2, 2)), b"\xff\xff\x07\x07" * 8)

    def test_undefined_is_refused(self):
        read = [copy_words([1, 0, 0, 0, 0], [5, 0, 0, 0, 0], 4)]
        with self.assertRaisesRegex(ValueError, "nobody wrote"):
            run_one(read, b"", 4)
        with self.assertRaisesRegex(ValueError, "same bytes"):
            run_one([(2, [5, 0, 1, 1, 0, 0, 1, 1, 0])] + read, b"", 4, tiles=(1, 2))


if __name__ == "__main__":
    unittest.main()
