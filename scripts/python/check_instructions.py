"""Compares the instruction counts of the benchmarks with the committed baseline.

The counts come from callgrind and hardly vary from run to run, so a small rise is a real one. They do vary
with the compiler: the baseline names the one it was made with.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BASELINE = ROOT / "benches" / "instructions.json"
PACKAGE = "h5strata-benches"
BENCH = "instructions"
TOLERANCE = 0.05
"""The rise over the baseline that still passes, as a share of it."""


def measure() -> dict[str, int]:
    """Runs the benchmark and returns instructions executed by benchmark name."""
    command = ["cargo", "bench", "--package", PACKAGE, "--bench", BENCH, "--", "--output-format=json"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    summaries = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {benchmark_name(summary): instructions(summary) for summary in summaries}


def benchmark_name(summary: dict[str, Any]) -> str:
    """`group::function[id]`; the id is absent where a function is measured once."""
    name = str(summary["module_path"]).removeprefix(f"{BENCH}::")
    return f"{name}[{summary['id']}]" if summary["id"] else name


def instructions(summary: dict[str, Any]) -> int:
    """The `Ir` event of one summary; where an earlier run is recorded too, the new one stands first."""
    callgrind = next(profile for profile in summary["profiles"] if profile["tool"] == "Callgrind")
    metric = callgrind["summaries"]["total"]["summary"]["Callgrind"]["Ir"]["metrics"]
    new = metric["Both"][0] if "Both" in metric else metric["Left"]
    return int(new["Int"])


def compiler() -> str:
    """The compiler as it names itself, `rustc 1.95.0 (...)`."""
    return subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def compare(baseline: dict[str, int], measured: dict[str, int]) -> list[str]:
    """Prints one line a benchmark and returns what is wrong, one sentence each."""
    faults = [f"{name}: in the baseline, but not measured" for name in baseline.keys() - measured.keys()]
    for name, count in measured.items():
        if name not in baseline:
            faults.append(f"{name}: measured, but not in the baseline")
            continue
        change = count / baseline[name] - 1
        print(f"{name:<60} {baseline[name]:>12,} -> {count:>12,}  {change:+.1%}")
        if change > TOLERANCE:
            faults.append(f"{name}: {change:+.1%} instructions, at most {TOLERANCE:+.0%} is allowed")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="rewrite the baseline with what is measured now")
    arguments = parser.parse_args()

    measured = measure()
    if not measured:
        print("no benchmark was run", file=sys.stderr)
        return 1
    if arguments.update:
        record = {"compiler": compiler(), "instructions": dict(sorted(measured.items()))}
        BASELINE.write_text(json.dumps(record, indent=2) + "\n")
        print(f"{len(measured)} counts written to {BASELINE.relative_to(ROOT)}")
        return 0

    record = json.loads(BASELINE.read_text())
    faults = compare(record["instructions"], measured)
    if faults and record["compiler"] != compiler():
        faults.append(f"the baseline is of {record['compiler']}, this is {compiler()}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
