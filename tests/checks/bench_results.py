#!/usr/bin/env python3
"""Every performance target that is reached so far has a result in bench/results; those that miss their
floor or their goal are printed. Only a missing or malformed result fails: speed is no test.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Targets of the parts that exist: id -> (what, floor, goal, higher is better). The H rows of the host
# carry floor and goal of each case themselves.
TARGETS = {
    "P1": ("optimizer steps, f32, long list, % of copy", 98, 101.5, True),
    "P2": ("the same with bf16 gradients, % of copy", 95, 99, True),
    "P3": ("P1 and P2 on a short list, % of copy", 93, 96, True),
    "P22": ("casts and scale, % of copy", 97, 101, True),
    "H1": ("a step of 1000 tensors beyond the bare launch", None, None, False),
    "H2": ("the same with new gradients", None, None, False),
    "H3": ("one-shot launch beyond the bare launch", None, None, False),
    "H4": ("cold compile, in empty kernels", None, None, False),
    "H5": ("program from disk and from memory", None, None, False),
    "H6": ("library load, first program, 100 programs", None, None, False),
    "H7": ("compiles of 1000 learning rates, 5 list lengths, 1000 tensors", None, None, False),
    "H8": ("CPU, % of a bare stream", None, None, True),
}


def results():
    for path in sorted((ROOT / "bench/results").glob("20*.json")):
        for row in json.loads(path.read_text())["rows"]:
            yield path.name, row


def judge(row, target):
    _, floor, goal, higher = target
    floor, goal = row.get("floor", floor), row.get("goal", goal)
    value = row.get("percent_of_copy", row.get("value"))
    better = (lambda a, b: a >= b) if higher else (lambda a, b: a <= b)
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
        faults.append(f"expected a result of {missing} ({TARGETS[missing][0]}) in bench/results, got none; run its benchmark")
    print("\n".join(notes))
    print("\n".join(faults), file=sys.stderr)
    print(f"{len(seen)} targets with results, {len(notes)} cases short of their goal, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
