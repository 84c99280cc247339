#!/usr/bin/env python3
"""Installs the wheel of dist/ in a new virtual environment beside the torch of tools/install-torch, and runs tests there."""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import wheel

ROOT = Path(__file__).resolve().parent.parent.parent


def torch_folder(arguments):
    found = subprocess.run([ROOT / "tools/install-torch", "--print", *arguments], capture_output=True, text=True)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def oldest():
    """Arguments of tools/install-torch for the oldest torch and Python; None where no such Python is."""
    script = "source tools/lib/env.sh; python=$(oldest_python) && echo $oldest_torch_version --python=$python"
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT)
    return found.stdout.split() if found.returncode == 0 else None


def make_environment(folder, torch):
    """A new environment that sees the packages of torch's own one, so that 1 GB need not be installed again."""
    subprocess.run([torch / "bin/python", "-m", "venv", folder], check=True)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    old, new = (subprocess.run([path / "bin/python", "-c", where], capture_output=True, text=True, check=True).stdout.strip()
                for path in (torch, folder))
    Path(new, "torch.pth").write_text(old + "\n")
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index",
                    wheel.only_wheel()], check=True)


def skip(reason):
    print(f"skipped: {reason}")
    return 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--oldest", action="store_true", help="with the oldest torch and Python that the package supports")
    options = parser.parse_args()
    if wheel.only_wheel() is None:
        return skip("there is no wheel in dist/; run tools/wheel")
    arguments = oldest() if options.oldest else []
    if arguments is None:
        return skip("no Python 3.9 is installed")
    torch = torch_folder(arguments)
    if torch is None:
        return skip(f"torch is not installed; run tools/install-torch {' '.join(arguments)}")
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder, "environment")
        make_environment(environment, torch)
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run([environment / "bin/python", "-W", "ignore", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *options.files],
                              cwd=folder, env=clean).returncode


if __name__ == "__main__":
    sys.exit(main())
