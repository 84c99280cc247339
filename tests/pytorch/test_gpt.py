"""Trains with examples/gpt.py and reads what it tells; provokes each of its errors."""
import gzip
import hashlib
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SMALL = ["--steps", "48", "--batch", "4", "--context", "24", "--layers", "2", "--width", "32", "--heads", "2", "--write", "20"]


def run(*arguments, device="cpu"):
    # Threads of these sizes only wait for each other.
    return subprocess.run([sys.executable, EXAMPLES / "gpt.py", "--device", device, *map(str, arguments)], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))


def train(folder, *arguments, device="cpu"):
    """What a run writes as JSON, and what it prints."""
    out = folder / "out.json"
    result = run(*SMALL, "--json", out, *arguments, device=device)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(out.read_text()), result.stdout


def curves(told):
    return {run["run"]: run["losses"] for run in told["runs"]}


# How far losses may be apart while rounding has not grown yet: both train in f32, or round weights to 8 or 11 bits.
@pytest.mark.parametrize("dtype, first_steps", [("f32", 2e-5), ("bf16", 2e-2), ("f16", 4e-3)])
def test_curves_are_those_of_torch(tmp_path, dtype, first_steps, device):
    told, printed = train(tmp_path, "--dtype", dtype, device=device)
    ours, torch = curves(told)["fusewright"], curves(told)["torch"]
    assert len(ours) == len(torch) == 48
    assert max(abs(a - b) for a, b in zip(ours[:12], torch[:12])) <= first_steps
    assert told["comparison"]["difference"]["mean"] <= told["comparison"]["noise"]["mean"]
    assert told["comparison"]["noise"]["mean"] > 1e-3
    assert printed.rstrip().endswith(": equal within noise")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype, first_steps", [("f32", 2e-5), ("bf16", 2e-2), ("f16", 4e-3)])
def test_steps_of_a_graph_are_those_without(tmp_path, dtype, first_steps):
    one = ("--optimizer", "fusewright", "--dtype", dtype)
    eager, graph = (curves(train(tmp_path, *one, *more, device="cuda")[0])["fusewright"] for more in ((), ("--graph",)))
    assert max(abs(a - b) for a, b in zip(eager[:12], graph[:12])) <= first_steps
    assert abs(sum(eager[-12:]) - sum(graph[-12:])) / 12 < 0.05


@pytest.mark.gpu
def test_torch_and_ours_in_graphs(tmp_path):
    told, printed = train(tmp_path, "--graph", "--dtype", "bf16", device="cuda")
    assert [run["run"] for run in told["runs"]] == ["torch", "torch foreach", "torch, other batches", "fusewright"]
    assert printed.rstrip().endswith(": equal within noise")


def test_it_learns(tmp_path):
    told, printed = train(tmp_path, "--optimizer", "fusewright", "--steps", 300)
    losses = curves(told)["fusewright"]
    assert abs(losses[0] - math.log(75)) < 0.5  # knows nothing
    assert sum(losses[-20:]) / 20 < 2.95  # knows the letters' frequencies, and some pairs
    assert abs(told["runs"][0]["validation"] - sum(losses[-20:]) / 20) < 0.3
    assert re.search(r"^fusewright writes: .{20,}$", printed, re.M)


def test_same_seed_gives_the_same_losses(tmp_path):
    first, second, other = (curves(train(tmp_path, "--optimizer", "fusewright", "--seed", seed)[0])["fusewright"] for seed in (3, 3, 4))
    assert first == second
    assert first != other


def with_path(path, *arguments):
    return subprocess.run([sys.executable, EXAMPLES / "gpt.py", "--device", "cpu", *SMALL, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=str(path)))


def test_torch_alone_needs_no_package(tmp_path):
    (tmp_path / "fusewright.py").write_text("raise ImportError('not to be imported')\n")
    result = with_path(tmp_path, "--optimizer", "torch")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^torch +\d\.\d{4} ", result.stdout, re.M)


def test_missing_package_is_told(tmp_path):
    result = with_path(tmp_path)
    if "PYTHONPATH" not in os.environ:  # the package is installed, and no path hides it
        assert result.returncode == 0, result.stderr
        return
    assert (result.returncode, result.stderr) == (
        2, "error: expected the package fusewright, got none; install it, or set PYTHONPATH to build/plugins/pytorch/stage\n")


def test_plot_is_drawn_or_the_lack_of_matplotlib_is_told_first(tmp_path):
    picture = tmp_path / "loss.png"
    if importlib.util.find_spec("matplotlib"):
        train(tmp_path, "--optimizer", "torch", "--plot", picture)
        assert picture.read_bytes().startswith(b"\x89PNG")
        return
    result = run(*SMALL, "--optimizer", "torch", "--plot", picture)
    assert (result.returncode, result.stdout, result.stderr) == (
        2, "", "error: expected the package matplotlib for --plot, got none; pip install matplotlib, or leave --plot out\n")


@pytest.mark.parametrize("arguments, message", [
    (["--graph"], "expected a GPU for --graph, got --device cpu; leave --graph out"),
    (["--heads", 5], "expected sizes of at least 1, and a width of whole heads, got width 96 for 5 heads; see gpt.py --help"),
    (["--steps", 0], "expected sizes of at least 1, and a width of whole heads, got width 96 for 4 heads; see gpt.py --help"),
    (["--text", "none.txt"], "expected a readable text, got 'none.txt'; give --text FILE"),
])
def test_errors(arguments, message):
    result = run(*arguments)
    assert (result.returncode, result.stderr) == (2, f"error: {message}\n")


def test_short_text_is_refused(tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("a b c\n" * 20)
    result = run("--text", short)
    assert (result.returncode, result.stderr) == (
        2, "error: expected a text of more than 640 letters, got short.txt; give a longer one, or a shorter --context\n")


def test_text_is_the_one_that_its_readme_names():
    text = gzip.decompress((EXAMPLES / "gpt/pride_and_prejudice.txt.gz").read_bytes())
    readme = (EXAMPLES / "gpt/README.md").read_text()
    assert hashlib.sha256(text).hexdigest() in readme
    assert f"{len(text)} letters of {len(set(text))} kinds" in readme
