#!/usr/bin/env python3
"""Every performance target that is reached so far has a result in bench/results; those that miss their
floor or their goal are printed. Only a missing or malformed result fails: speed is no test.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Targets of the parts that exist, by id. Rows of the host carry floor and goal of each case themselves.
TARGETS = json.loads((ROOT / "bench/tables/cases.json").read_text())["targets"]


def results():
    for path in sorted((ROOT / "bench/results").glob("20*.json")):
        for row in json.loads(path.read_text())["rows"]:
            yield path.name, row


def judge(row, target):
    floor, goal = row.get("floor", target.get("floor")), row.get("goal", target.get("goal"))
    value = row.get("percent_of_copy", row.get("value"))
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
        if not isinstance(row.get("percent_of_copy", row.get("value")), (int, float)) or not row.get("case"):
            faults.append(f"{name}: expected a case with percent_of_copy or value, got {row}")
            continue
        seen.add(row["id"])
        if note := judge(row, TARGETS[row["id"]]):
            notes.append(f"{row['id']:4} {row['case']}: {row.get('percent_of_copy', row.get('value')):.4g}, {note}")
    for missing in sorted(set(TARGETS) - seen):
        faults.append(f"expected a result of {missing} ({TARGETS[missing]['what']}) in bench/results, got none; run its benchmark")
    print("\n".join(notes))
    print("\n".join(faults), file=sys.stderr)
    print(f"{len(seen)} targets with results, {len(notes)} cases short of their goal, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
