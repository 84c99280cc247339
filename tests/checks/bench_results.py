#!/usr/bin/env python3
"""Every performance target that is reached so far has a result in bench/results; those that miss their
floor or their goal are printed. Only a missing or malformed result fails: speed is no test.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Targets of the parts that exist, by id. Rows of the host carry floor and goal of each case themselves.
# Those that are pending have kernels but no result yet.
TARGETS = json.loads((ROOT / "bench/tables/cases.json").read_text())["targets"]


def results():
    for path in sorted((ROOT / "bench/results").glob("20*.json")):
        for row in json.loads(path.read_text())["rows"]:
            yield path.name, row


def value_of(row):
    return next((row[key] for key in ("percent_of_read", "percent_of_copy", "value") if key in row), None)


def judge(row, target):
    floor, goal = row.get("floor", target.get("floor")), row.get("goal", target.get("goal"))
    value = value_of(row)
    better = (lambda a, b: a >= b) if target["more"] else (lambda a, b: a <= b)
    if not better(value, floor):
        return f"below the floor of {floor}"
    return None if better(value, goal) else f"between floor {floor} and goal {goal}"


def main():
    seen, faults, notes = set(), [], []
    for name, row in results():
        if row.get("id") not in TARGETS:
            faults.append(f"{name}: expected an id of {', '.join(TARGETS)}, got {row.get('id')!r}")
            continue
        if not isinstance(value_of(row), (int, float)) or not row.get("case"):
            faults.append(f"{name}: expected a case with percent_of_copy, percent_of_read or value, got {row}")
            continue
        seen.add(row["id"])
        if note := judge(row, TARGETS[row["id"]]):
            notes.append(f"{row['id']:4} {row['case']}: {value_of(row):.4g}, {note}")
    pending = {name for name, target in TARGETS.items() if target.get("pending")}
    notes += [f"{name:4} {TARGETS[name]['what']}: pending, no result yet" for name in sorted(pending - seen)]
    faults += [f"{name}: expected no mark 'pending' beside a result; remove it from bench/tables/cases.json"
               for name in sorted(pending & seen)]
    for missing in sorted(set(TARGETS) - seen - pending):
        faults.append(f"expected a result of {missing} ({TARGETS[missing]['what']}) in bench/results, got none; run its benchmark")
    print("\n".join(notes))
    print("\n".join(faults), file=sys.stderr)
    print(f"{len(seen)} targets with results, {len(notes)} cases short of their goal, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
