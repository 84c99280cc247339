#!/usr/bin/env python3
"""`precompile`: rows, exit codes, what is stored and what is not."""
import os
import signal
import subprocess
import time

from cli import Cli, main, program


class Precompile(Cli):
    KEYS = {"op", "arch", "dtypes", "registers", "spill_bytes", "cubin_bytes", "ms", "status"}

    def test_rows_and_second_run(self):
        self.need_nvrtc()
        arguments = ("precompile", "--arch", "sm_80,sm_90", "--ops", "sgd,scale", "--jobs", "2")
        kernels = self.json_of(*arguments)["kernels"]
        self.assertEqual({kernel["arch"] for kernel in kernels}, {"sm_80", "sm_90"})
        for kernel in kernels:
            self.assertLessEqual(self.KEYS, set(kernel))
            self.assertEqual((kernel["status"], kernel["spill_bytes"]), ("compiled", 0))
            self.assertGreater(kernel["registers"], 0)
            self.assertGreater(kernel["cubin_bytes"], 0)
        again = self.json_of(*arguments)["kernels"]
        self.assertEqual({kernel["status"] for kernel in again}, {"cached"})
        self.assertEqual([kernel["registers"] for kernel in again], [kernel["registers"] for kernel in kernels])

    def test_table(self):
        self.need_nvrtc()
        run = self.run_cli("precompile", "--arch", "sm_90", "--ops", "lion", "--dtype", "grad=bf16")
        header, row, scalars = run.stdout.splitlines()
        self.assertEqual(header.split("  ")[0], "kernel")
        self.assertRegex(row, r"^fw_lion\S* +sm_90 .* 0 +\d+ +[\d.]+ +compiled$")
        self.assertRegex(scalars, r"^fw_scalars +sm_90 .* 0 +\d+ +[\d.]+ +compiled$")
        self.assertIn("2 programs for 1 arch: 2 compiled, 0 cached, 0 failed", run.stderr)

    def test_one_program_is_told_as_one(self):
        run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f32")
        self.assertIn("1 program for 1 arch: 1 compiled, ", run.stderr)

    def test_a_virtual_arch_gives_ptx(self):
        nvrtc = {"FUSEWRIGHT_NVRTC": os.environ["FW_FAKE_NVRTC_12000"]}
        arguments = ("precompile", "--arch", "compute_90,sm_90", "--ops", "scale", "--dtype", "in=f32")
        rows = {(row["op"], row["arch"]): row for row in self.json_of(*arguments, **nvrtc)["kernels"]}
        for op in ("scale", "scalars"):
            ptx = rows[op, "compute_90"]
            self.assertEqual((ptx["status"], ptx["registers"], ptx["cubin_bytes"]),
                             ("compiled", -1, len("// PTX for compute_90\n")))
            self.assertEqual(rows[op, "sm_90"]["cubin_bytes"], len("cubin for sm_90"))
        again = self.json_of(*arguments, **nvrtc)["kernels"]
        self.assertEqual({row["status"] for row in again}, {"cached"})
        self.assertIn("scale for compute_90", self.run_cli("cache", "ls").stdout)
        run = self.run_cli("precompile", "--arch", "compute_121", "--ops", "scale", "--dtype", "in=f32", code=5, **nvrtc)
        self.assertIn("got 'compute_121'; point FUSEWRIGHT_NVRTC at one that knows it, which 12.9 was the first to do",
                      run.stderr)

    def test_missing_nvrtc_is_5_with_the_remedy(self):
        run = self.run_cli("precompile", "--arch", "sm_90", "--ops", "scale", "--dtype", "in=f32", code=5,
                           FUSEWRIGHT_NVRTC="/nowhere/libnvrtc.so")
        self.assertIn("/nowhere/libnvrtc.so", run.stderr)
        self.assertIn("FUSEWRIGHT_NVRTC", run.stderr)

    def test_strict_miss_is_6(self):
        run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f32", code=6,
                           FUSEWRIGHT_STRICT="1")
        self.assertIn("strict mode", run.stderr)

    def test_what_is_not_stored_is_7(self):
        file = self.write("file", "")
        for words, settings in (
                ("there is no cache folder that can be used", {"FUSEWRIGHT_CACHE_DIR": str(self.folder / file)}),
                ("FUSEWRIGHT_CACHE_SIZE=0 keeps nothing on disk", {"FUSEWRIGHT_CACHE_SIZE": "0"}),
                ("holds at most 4000 bytes, so that entries made now were removed again",
                 {"FUSEWRIGHT_CACHE_SIZE": "4000"})):
            run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", code=7, **settings)
            self.assertIn(" not stored\n", run.stdout)
            self.assertRegex(run.stderr, "error: expected every program in the cache, got [1-9] that are not stored: .*"
                             + words)

    def test_what_stands_in_an_entrys_place_is_told(self):
        arguments = ("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f32")
        self.run_cli(*arguments)
        for path in (self.cache / "index").iterdir():
            path.unlink()
            path.mkdir()
        run = self.run_cli(*arguments, code=7)
        self.assertIn("the kernel cache cannot be written", run.stderr)
        self.assertIn(" did not take them, as a warning above says; mend what the warning names", run.stderr)

    def test_a_record_whose_kernels_are_gone_is_a_miss(self):
        arguments = ("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f32")
        self.run_cli(*arguments)
        for path in (self.cache / "objects").iterdir():
            path.unlink()
        self.assertEqual(self.json_of(*arguments)["kernels"][0]["status"], "compiled")
        self.assertEqual(self.json_of(*arguments)["kernels"][0]["status"], "cached")

    def test_names_are_united(self):
        rows = self.json_of("precompile", "--arch", "cpu,cpu", "--ops", "scale,scale", "--dtype", "in=f32,in=f32")
        self.assertEqual(len(rows["kernels"]), 1)
        every = self.json_of("precompile", "--arch", "cpu", "--ops", "all")["kernels"]
        self.assertEqual(len(self.json_of("precompile", "--arch", "cpu", "--ops", "scale,all")["kernels"]), len(every))

    def test_all_and_an_arch_are_united(self):
        archs = self.need_nvrtc()
        rows = self.json_of("precompile", "--arch", f"{archs[-1]},all,cpu", "--ops", "scale", "--dtype", "in=f32")
        self.assertEqual([(row["op"], row["arch"]) for row in rows["kernels"]],
                         [("scale", arch) for arch in (archs[-1], *archs[:-1], "cpu")] +
                         [("scalars", arch) for arch in (archs[-1], *archs[:-1])])

    def test_an_unknown_arch_is_one_error(self):
        for arch in ("", "sm_1", "cpu,sm_1"):
            run = self.run_cli("precompile", "--arch", arch, "--ops", "scale,sgd", code=2)
            self.assertEqual((run.stdout, run.stderr.count("error: ")), ("", 1))

    def test_a_missing_cpu_library_is_told_once(self):
        run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", code=5,
                           FUSEWRIGHT_CPU_LIBRARY="/nowhere/libfusewright-cpu.so")
        self.assertEqual(run.stderr.count("set FUSEWRIGHT_CPU_LIBRARY to its path"), 1)
        self.assertRegex(run.stderr, "scale for cpu and [0-9]+ more: error: ")

    def test_cpu_objects(self):
        kernels = self.json_of("precompile", "--arch", "cpu", "--ops", "sgd")["kernels"]
        self.assertEqual({kernel["status"] for kernel in kernels}, {"compiled"})
        self.assertEqual({kernel["registers"] for kernel in kernels}, {-1})

    def test_interrupt_leaves_a_sound_cache(self):
        self.need_nvrtc()
        for number in (signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen([program(), "precompile", "--arch", "sm_90", "--ops", "adamw,adam"],
                                       env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.7)
            process.send_signal(number)
            process.wait()
        run = self.run_cli("precompile", "--arch", "sm_90", "--ops", "adamw,adam")
        self.assertIn(", 0 failed", run.stderr)
        self.assertNotIn("damaged", run.stderr)
        self.assertNotIn("unreadable", self.run_cli("cache", "ls").stdout)


if __name__ == "__main__":
    main()
