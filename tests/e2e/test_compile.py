"""Compiles the three networks for the simulated NPU; the other tests use the packages."""
import json
import os

import common


def check_verdicts(checks, args, network):
    """An operator that is not on the NPU says why: here copies that cost more than the NPU saves, with both figures."""
    shape = "x=" + "x".join(map(str, common.SHAPES[network][0]))
    command = [args.npukit, "check", common.model(network), "-t", common.TARGET, "--shape", shape, "--json"]
    report = json.loads(common.run(command, expect=1).stdout)
    off = [v for v in report["verdicts"] if v["placed_on"] == "CPU"]
    checks.check(len(off) > 0, f"{network}: nothing on the NPU and no verdict that says why")
    for verdict in off:
        checks.check(verdict["code"] == "costs_more_than_it_saves" and "copy" in str(verdict["found"])
                     and "gain" in str(verdict["limit"]), f"{network}: {verdict}")


def main():
    args = common.arguments(__doc__)
    checks = common.Checks()
    for network in common.NETWORKS:
        package = common.package(args, network)
        if os.path.exists(package):
            os.remove(package)
        shapes = common.SHAPES[network]
        command = [args.npukit, "compile", common.model(network), "-t", common.TARGET, "-o", package, "--json"]
        for shape in shapes:
            command += ["--shape", "x=" + "x".join(map(str, shape))]
        report = common.run_json(command)
        print(f"{network}: {os.path.getsize(package)} bytes in {report['seconds']} s", flush=True)
        checks.check(report["target"] == common.TARGET, f"{network}: target {report['target']}")
        # Per shape a program for the NPU with the CPU behind it, and one for the CPU alone.
        on_npu = [p for p in report["programs"] if "NPU" in p["devices"]]
        on_cpu = [p for p in report["programs"] if "NPU" not in p["devices"]]
        wanted = 0 if network == common.STAYS_ON_CPU else len(shapes)
        checks.check(len(on_npu) >= wanted, f"{network}: {len(on_npu)} programs for the NPU, {len(shapes)} shapes")
        if not on_npu:
            check_verdicts(checks, args, network)
        checks.check(len(on_cpu) >= len(shapes), f"{network}: {len(on_cpu)} programs for the CPU, {len(shapes)} shapes")
    checks.finish()


if __name__ == "__main__":
    main()
