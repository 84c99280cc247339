"""What the tests of the command line share. Each of them is run as: test_NAME.py FUSEWRIGHT [unittest arguments]"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# Ten lines that are not shipped.
RMSPROP = """# RMSProp with momentum. Tieleman & Hinton 2012, lecture 6.5.
op rmsprop over elements {
  param p;  grad g;  state v = 0, b = 0
  hyper lr = 1e-3 >= 0, alpha = 0.99 in [0, 1), momentum = 0.5 in [0, 1), eps = 1e-8 > 0
  v = alpha*v + (1 - alpha)*g^2          # E1
  b = momentum*b + g/(sqrt(v) + eps)     # E2
  p = p - lr*b                           # E3
}
"""

SHIPPED = sorted(name for path in (Path(__file__).resolve().parents[2] / "ops").rglob("*.fuse")
                 for name in re.findall(r"^op (\w+)", path.read_text(), re.M))


def program():
    return Cli.PROGRAM


class Cli(unittest.TestCase):
    PROGRAM = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cache = self.folder / "cache"

    def environment(self, **settings):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FUSEWRIGHT_")}
        for name in ("FUSEWRIGHT_NVRTC", "FUSEWRIGHT_CPU_LIBRARY"):
            if name in os.environ:
                kept[name] = os.environ[name]
        return {**kept, "FUSEWRIGHT_CACHE_DIR": str(self.cache), **settings}

    def run_anyhow(self, *arguments, **settings):
        return subprocess.run([program(), *arguments], capture_output=True, text=True,
                              env=self.environment(**settings), cwd=self.folder)

    def run_cli(self, *arguments, code=0, **settings):
        run = self.run_anyhow(*arguments, **settings)
        self.assertEqual(run.returncode, code, f"{arguments}\n{run.stdout}{run.stderr}")
        return run

    def json_of(self, *arguments, code=0, **settings):
        return json.loads(self.run_cli(*arguments, "--json", code=code, **settings).stdout)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def doctor(self, **settings):
        """The exit code, and the parts by the first word of their name."""
        run = self.run_anyhow("doctor", "--json", **settings)
        return run.returncode, {part["part"].split()[0]: part for part in json.loads(run.stdout)["parts"]}

    def need_nvrtc(self):
        nvrtc = self.doctor()[1]["NVRTC"]
        if not nvrtc["ok"]:
            self.skipTest("NVRTC is not here: " + nvrtc["problems"][0]["problem"])
        return nvrtc["facts"]["archs"]


def main():
    Cli.PROGRAM = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
