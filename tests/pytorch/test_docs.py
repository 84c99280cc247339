"""Runs the Python blocks of docs/guide/pytorch.md. The first one is what all others begin with; each of them runs in a
copy of its own. What a block needs stands behind its language: `cuda`, `torch>=2.5`."""
import os
import re
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guide/pytorch.md"
FENCE = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.M | re.S)


def blocks():
    """(what stands behind the language, line of the first line, text)"""
    text = GUIDE.read_text(encoding="utf-8")
    return [(match.group(1).split(), text.count("\n", 0, match.start()) + 2, match.group(2)) for match in FENCE.finditer(text)]


def marks(needs):
    """Where a block is not run."""
    oldest = [tuple(map(int, need.split("=")[1].split("."))) for need in needs if need.startswith("torch>=")]
    found = [pytest.mark.gpu] if "cuda" in needs else []
    version = tuple(map(int, torch.__version__.split(".")[:2]))
    return found + [pytest.mark.skipif(version < old, reason=f"needs torch {'.'.join(map(str, old))}") for old in oldest]


def execute(line, text, names):
    # The line numbers of a traceback are those of the page.
    exec(compile("\n" * (line - 1) + text, str(GUIDE), "exec"), names)


BLOCKS = blocks()


def test_the_page_has_blocks():
    assert len(BLOCKS) > 10


@pytest.mark.parametrize("line, text", [
    pytest.param(line, text, id=f"line {line}", marks=marks(needs)) for needs, line, text in BLOCKS[1:]])
def test_block(line, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "ops"):
        os.symlink(ROOT / folder, tmp_path / folder)
    names = {"__name__": "block"}
    _, first, prelude = BLOCKS[0]
    execute(first, prelude, names)
    before = [parameter.detach().clone() for parameter in names["model"].parameters()]
    execute(line, text, names)
    after = list(names["model"].parameters())
    # Each block shows how to train: the model has moved, and is sound.
    assert all(torch.isfinite(parameter).all() for parameter in after)
    assert any(a.shape != b.shape or not torch.equal(a.detach().float(), b.float()) for a, b in zip(after, before))
