"""The benchmarks beside torch in a small form: what they print and write."""
import json
import os
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parents[2] / "bench/peers"


def run(folder, device, script, *arguments):
    out = folder / "out.json"
    command = [sys.executable, PEERS / script, "--device", device, "--json", out, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    assert result.returncode == 0, result.stdout + result.stderr
    told = json.loads(out.read_text())
    assert {"date", "method", "versions", "rows"} <= told.keys()
    return told, result.stdout.splitlines()


def test_host_times(tmp_path, device):
    told, lines = run(tmp_path, device, "torch_host_times.py", "--parameters", 20, "--batches", 3, "--steps", 2)
    rows = told["host_times"]
    assert [(row["case"], row["who"]) for row in rows] == [
        ("new gradients", "fusewright"), ("new gradients", "torch fused"), ("new gradients", "torch foreach"),
        ("same gradients", "fusewright"), ("same gradients", "torch fused"), ("same gradients", "torch foreach"),
        ("arena", "fusewright"), ("arena, one op", "fusewright"),
        *([("CUDA graph", "fusewright"), ("CUDA graph", "torch fused")] if device == "cuda" else []),
        ("loss scale", "fusewright"), ("loss scale", "torch fused"),
        ("loss scale, same", "fusewright"), ("loss scale, same", "torch fused")]
    for row, line in zip(rows, lines[2:]):
        assert 0 < row["best_us"] <= row["us"]
        assert row["us_per_parameter"] == row["us"] / 20
        assert line.startswith(f"{row['case']:16} {row['who']:14} {row['best_us']:9.1f} {row['us']:9.1f}")
    assert len(lines) == 2 + len(rows)


def test_optimizer(tmp_path, device):
    told, lines = run(tmp_path, device, "torch_optimizer.py", "--lists", "resnet-50", "--tensors", 12, "--rounds", 3)
    rows = told["rows"]
    assert [row["case"] for row in rows] == ["AdamW from Python, resnet-50", "AdamW from Python, resnet-50, bf16 with masters"]
    assert [row.get("id") for row in rows] == (["P3", "P3"] if device == "cuda" else [None, None])  # no target is one of the CPU's
    elements = 64 * 3 * 49 + 64 * 64 + 64 * 64 * 9 + 64 * 256 + 2 * 64 * 3 + 2 * 256
    for row in rows:
        assert row["bytes"] == 28 * elements
        assert row["us"] > 0 and row["percent_of_copy"] > 0
        assert list(row["peers"]) == ["torch fused", "torch foreach"]
        assert all(peer["us"] > 0 and peer["percent_of_copy"] > 0 for peer in row["peers"].values())
    assert len(lines) == 1 + 3 * len(rows)
