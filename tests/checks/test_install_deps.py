#!/usr/bin/env python3
"""Runs tools/install-deps against a pretended system: which package commands it gives, and what it says
where it cannot go on."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "tools" / "install-deps"

# Each pretended command notes its arguments; `missing` holds the packages that dpkg-query denies,
# `unknown` those that no package source has.
COMMANDS = {
    "dpkg-query": 'grep -qx -- "${@: -1}" "$STATE/missing" || printf installed',
    "apt-cache": '! grep -qx -- "$2" "$STATE/unknown"',
    "apt-get": 'echo "apt-get $*" >>"$STATE/log"',
    "sudo": 'exit 1',
    "ldconfig": 'exit 0',
    # pip install ... --target FOLDER REQUIREMENT
    "python3": 'echo "python3 $*" >>"$STATE/log"; folder="${@: -2:1}/nvidia/cu13"; '
               'mkdir -p "$folder/lib" "$folder/include/nvtx3"; case "$*" in '
               '*nvtx*) touch "$folder/include/nvtx3/nvToolsExt.h" ;; '
               '*) touch "$folder/lib/libnvrtc.so.13" "$folder/lib/libnvrtc-builtins.so.13.5" ;; esac',
}


@unittest.skipUnless(shutil.which("bash"), "no bash on the path")
class InstallDeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = Path(folder.name)
        self.state.chmod(0o755)
        (self.state / "bin").mkdir()
        for name, body in COMMANDS.items():
            command = self.state / "bin" / name
            command.write_text(f"#!/bin/bash\n{body}\n")
            command.chmod(0o755)
        self.pretend()

    def pretend(self, missing=(), unknown=()):
        (self.state / "missing").write_text("".join(f"{name}\n" for name in missing))
        (self.state / "unknown").write_text("".join(f"{name}\n" for name in unknown))

    def run_script(self, *arguments, prefix=()):
        environment = {"PATH": f"{self.state / 'bin'}:{os.environ['PATH']}", "STATE": str(self.state),
                       "HOME": str(self.state), "CUDA_HOME": str(self.state / "cuda")}
        command = [*prefix, "bash", str(SCRIPT), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def log(self):
        path = self.state / "log"
        return path.read_text().splitlines() if path.exists() else []

    def test_nothing_missing_runs_nothing_and_needs_no_rights(self):
        library, headers = self.state / "cuda" / "lib64", self.state / "cuda" / "include"
        for path in (library / "libnvrtc.so.13", library / "libnvrtc-builtins.so.13.0", headers / "nvtx3" / "nvToolsExt.h"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.log(), [])
        self.assertIn(f"NVRTC: {library}", result.stdout)
        self.assertIn(f"NVTX: {headers}", result.stdout)

    def test_nvrtc_and_nvtx_come_from_pypi_once(self):
        for _ in range(2):
            result = self.run_script("--no-toolkit")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("share/fusewright/nvrtc/nvidia/cu13/lib (from PyPI)", result.stdout)
            self.assertIn("share/fusewright/nvtx/nvidia/cu13/include", result.stdout)
        self.assertEqual(len(self.log()), 2)
        self.assertIn("nvidia-cuda-nvrtc>=13,<14", self.log()[0])
        self.assertIn("nvidia-nvtx>=13,<14", self.log()[1])

    def test_without_nvtx_the_build_goes_on(self):
        (self.state / "bin" / "python3").write_text("#!/bin/bash\nexit 1\n")
        library = self.state / "cuda" / "lib64"
        library.mkdir(parents=True)
        for name in ("libnvrtc.so.13", "libnvrtc-builtins.so.13.0"):
            (library / name).touch()
        result = self.run_script()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no ranges for profilers", result.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root: installs through a pretended apt-get")
    def test_root_installs_what_is_missing_alone(self):
        self.pretend(missing=["ninja-build", "meson"])
        result = self.run_script("--no-toolkit")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.log()[0], "apt-get update -q")
        self.assertEqual(self.log()[1], "apt-get install -y -q --no-install-recommends meson ninja-build")

    def test_check_reports_and_installs_nothing(self):
        self.pretend(missing=["meson"])
        result = self.run_script("--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("packages: missing meson", result.stdout)
        self.assertEqual(self.log(), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root: installs through a pretended apt-get")
    def test_system_without_llvm_22_is_told_what_to_add(self):
        self.pretend(missing=["llvm-22-dev", "meson"], unknown=["llvm-22-dev"])
        result = self.run_script()
        self.assertEqual(result.returncode, 5)
        self.assertIn("expected package llvm-22-dev", result.stderr)
        self.assertIn("llvm-toolchain-<codename>-22", result.stderr)
        self.assertEqual(self.log(), ["apt-get update -q"])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv: drops rights")
    def test_user_without_sudo_is_told_the_command(self):
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        if subprocess.run([*nobody, "cat", str(SCRIPT)], capture_output=True).returncode:
            self.skipTest("the checkout cannot be read by another user")
        self.pretend(missing=["meson"])
        result = self.run_script(prefix=nobody)
        self.assertEqual(result.returncode, 1)
        self.assertIn("expected root rights to install packages, got user", result.stderr)
        self.assertIn("apt-get install --no-install-recommends meson", result.stderr)

    def test_unknown_argument_is_a_usage_error(self):
        self.assertEqual(self.run_script("--now").returncode, 2)


if __name__ == "__main__":
    unittest.main()
