"""Parses ./dev's words and calls what they name."""
import argparse
import os

from . import build as building
from . import bench_peers, checks, demo, fix, fuzz, new, performance
from .common import Failure, say
from .setup import setup

DESCRIPTION = "The one developer command; CI calls nothing else."


def parser():
    p = argparse.ArgumentParser(prog="./dev", description=DESCRIPTION)
    verbs = p.add_subparsers(dest="verb", metavar="VERB")

    s = verbs.add_parser("setup", help="install what is missing (Debian, PyPI, npm), fetch models and photos into .cache/")
    s.add_argument("--dry-run", action="store_true", help="only print what would be installed")
    s.add_argument("--networks", action="store_true", help="also real networks to test with (torch, 0.5 GB; weights, 0.4 GB)")
    s.add_argument("--all", action="store_true",
                   help="also what ./dev test --all and ./dev check need (arm64, clang-format, real networks)")

    s = verbs.add_parser("demo", help="from a fresh clone to the text on real photos, on the simulated NPU")
    s.add_argument("name", nargs="?", default="ocr", choices=["ocr"])
    s.add_argument("-t", "--target", default="kirin9030", help="profile to compile for (default: kirin9030)")

    s = verbs.add_parser("build", help="build a preset: " + ", ".join(building.PRESETS))
    s.add_argument("preset", nargs="?", default="host", choices=building.PRESETS)

    s = verbs.add_parser("test", help="build and run the tests; --all is what CI runs")
    s.add_argument("--all", action="store_true", help="also under sanitizers and on emulated arm64")
    s.add_argument("pattern", nargs="?", help="a label (" + ", ".join(building.LABELS) + ") or part of a test's name")

    s = verbs.add_parser("fuzz", help="feed odd files to the readers until one breaks (clang, libFuzzer)")
    s.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    s.add_argument("--target", action="append", default=[], help="one of " + ", ".join(fuzz.TARGETS) + "; default: all")

    s = verbs.add_parser("bench", help="measure beside other engines and write docs/performance.md (peers); only write it (page)")
    s.add_argument("what", choices=["peers", "page"])
    s.add_argument("--yardstick", metavar="DIR", help="a folder with bench_peers.py and make_models.py")
    s.add_argument("--quick", action="store_true", help="few short rounds: a look, not a result")
    s.add_argument("--only", nargs="+", metavar="NAME", help="these networks; others keep what is stored")
    s.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    s.add_argument("--avx2", action="store_true", help="npukit and OpenVINO, both limited to AVX2")
    s.add_argument("--npukit", help="another command than build/npukit")
    s.add_argument("--note", help="a line for the page, such as what else ran on the machine")

    s = verbs.add_parser("check", help="format, layers, lists, ratchet, links, words; --quick leaves formatting out")
    s.add_argument("--quick", action="store_true")

    verbs.add_parser("fix", help="format the code, sort the lists, regenerate docs/ops.md")

    s = verbs.add_parser("new", help="start a file from a template: op, adr")
    s.add_argument("what", choices=["op", "adr"])
    s.add_argument("name", help="snake_case for an operator, words for an adr")
    return p


def main(argv):
    p = parser()
    args = p.parse_args(argv)
    os.chdir(building.ROOT)
    try:
        if args.verb is None:
            p.print_help()
            return 0
        if args.verb == "setup":
            groups = ("build", "all", "networks", "fuzz") if args.all else ("build", "networks") if args.networks else ("build",)
            setup(groups, dry_run=args.dry_run)
            return 0
        if args.verb == "demo":
            return demo.demo(args.target)
        if args.verb == "build":
            building.build(args.preset)
            return 0
        if args.verb == "test":
            return building.test(args.all, args.pattern)
        if args.verb == "fuzz":
            return fuzz.fuzz(args.seconds, args.target)
        if args.verb == "bench":
            return bench_peers.bench(args) if args.what == "peers" else performance.write()
        if args.verb == "check":
            return checks.check(args.quick)
        if args.verb == "fix":
            return fix.fix()
        return new.new(args.what, args.name)
    except Failure as e:
        say(f"[dev] {e}")
        return 1
    except KeyboardInterrupt:
        return 130
