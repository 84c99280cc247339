#!/usr/bin/env python3
"""What `meson install` puts down works from there: a C program built by pkg-config's answers, the program
fusewright beside its libraries, and a manual page that names every command.

usage: install.py BUILD --cc "clang"
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = r"""#include <fusewright/fusewright.h>
#include <stdio.h>
int main(void) {
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  int64_t shape = 4;
  fw_tensor tensors[2] = {{sizeof(fw_tensor), FW_DEVICE_CPU, 0, 1, "f32", x, &shape, NULL, 0},
                          {sizeof(fw_tensor), FW_DEVICE_CPU, 0, 1, "f32", y, &shape, NULL, 0}};
  fw_context *context;
  fw_op *op;
  fw_request *request;
  fw_program *program;
  if (fw_context_create(NULL, &context) || fw_op_find(context, "scale", &op) || fw_request_create(op, &request) ||
      fw_compile(context, request, &program) || fw_launch(context, program, tensors, 2, NULL, 0, NULL)) {
    puts(fw_last_error()->text);
    return 1;
  }
  printf("%g\n", y[3]);
  return 0;
}
"""
BUILD, CC = None, None


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", str(cls.folder / "root")],
                       check=True, capture_output=True)
        cls.config, = (cls.folder / "root").rglob("fusewright.pc")
        written = re.search(r"^prefix=(.*)$", cls.config.read_text(), re.M).group(1)
        cls.prefix = cls.folder / "root" / written.lstrip("/")
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith("FUSEWRIGHT_")}
        cls.environment.update(PKG_CONFIG_PATH=str(cls.config.parent), FUSEWRIGHT_CACHE_DIR=str(cls.folder / "cache"))

    def run_there(self, command):
        run = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, f"{command}\n{run.stdout}{run.stderr}")
        return run.stdout

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config on the path")
    def test_a_c_program_builds_with_pkg_config(self):
        flags = self.run_there(["pkg-config", f"--define-variable=prefix={self.prefix}", "--cflags", "--libs", "fusewright"]).split()
        (self.folder / "program.c").write_text(PROGRAM)
        self.run_there([*CC.split(), "-std=c99", "-Wall", "-Werror", "program.c", "-o", "program", *flags,
                        f"-Wl,-rpath,{self.config.parent.parent}"])
        self.assertEqual(self.run_there(["./program"]), "4\n")

    def test_the_program_finds_its_libraries(self):
        self.assertIn(" ok", self.run_there([str(self.prefix / "bin" / "fusewright"), "verify", "scale"]))
        self.assertIn("adamw", self.run_there([str(self.prefix / "bin" / "fusewright"), "ops"]))

    def test_the_manual_page_names_every_command(self):
        text = self.run_there([str(self.prefix / "bin" / "fusewright"), "--help"])
        commands = re.findall(r"^  (\w+)  ", text.split("ubcommands:")[1].split("\n\n")[0], re.M)
        self.assertIn("bench", commands)
        page, = self.prefix.rglob("fusewright.1*")
        manual = page.read_text().replace("\\-", "-")
        for command in commands:
            self.assertRegex(manual, rf"fusewright {command}\b")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--cc", required=True)
    options = parser.parse_args()
    BUILD, CC = options.build, options.cc
    unittest.main(argv=sys.argv[:1])
