#!/usr/bin/env python3
"""`doctor` on the machine that is here and on machines made up."""
import os

from cli import Cli, main

NOWHERE = {"FUSEWRIGHT_CUDA_DRIVER": "/nowhere/libcuda.so.1"}


class Doctor(Cli):
    def machine(self, devices="9.0", version=13000, nvrtc="13000"):
        """Settings of a machine with these GPUs, this version of the driver and this NVRTC."""
        return {"FUSEWRIGHT_CUDA_DRIVER": os.environ["FW_FAKE_CUDA"], "FAKE_CUDA_DEVICES": devices,
                "FAKE_CUDA_VERSION": str(version), "FUSEWRIGHT_NVRTC": os.environ["FW_FAKE_NVRTC_" + nvrtc]}

    def toolkits(self, *versions):
        """A folder for the loader's path, with these versions of NVRTC."""
        folder = self.folder / "lib"
        folder.mkdir()
        for version in versions:
            (folder / f"libnvrtc.so.{int(version) // 1000}").symlink_to(os.environ["FW_FAKE_NVRTC_" + version])
        return str(folder)

    def test_healthy_or_with_a_remedy(self):
        for part in self.doctor()[1].values():
            for problem in part["problems"]:
                self.assertNotEqual(problem["remedy"], "")

    def test_a_healthy_machine(self):
        code, parts = self.doctor(**self.machine("9.0,8.6"))
        self.assertEqual(code, 0, parts)
        self.assertEqual([(gpu["device"], gpu["compute capability"], gpu["target"]) for gpu in parts["GPU"]["facts"]["GPU"]],
                         [("cuda:0", "9.0", "sm_90"), ("cuda:1", "8.6", "sm_86")])
        for gpu in parts["GPU"]["facts"]["GPU"]:
            self.assertGreater(gpu["memory_bytes"], 1 << 20)
        self.assertEqual(parts["GPU"]["facts"]["version"], "CUDA 13.0")
        self.assertEqual(parts["GPU"]["notes"] + parts["NVRTC"]["notes"], [])
        self.assertRegex(self.run_cli("doctor", **self.machine()).stdout,
                         r"GPU: device cuda:0, name .*, compute capability 9\.0, target sm_90, memory [0-9.]+ [MGT]iB\n")

    def test_no_driver(self):
        run = self.run_cli("doctor", code=4, **NOWHERE)
        self.assertRegex(run.stdout, r"(?m)^GPU driver and devices: does not work\n"
                                     r"  problem: expected the CUDA driver \(/nowhere/libcuda.so.1\), got none that opens\n"
                                     r"  remedy: .*FUSEWRIGHT_CUDA_DRIVER")
        self.assertIn("CPU backend: ok", run.stdout)

    def test_no_device(self):
        code, parts = self.doctor(**self.machine(""))
        self.assertEqual(code, 4)
        self.assertIn("CUDA_VISIBLE_DEVICES", parts["GPU"]["problems"][0]["remedy"])

    def test_an_old_driver(self):
        code, parts = self.doctor(**self.machine(version=11080))
        self.assertEqual(code, 4)
        problem, = parts["GPU"]["problems"]
        self.assertRegex(problem["problem"], r"^expected a CUDA driver of version 12\.0 or newer, got version 11\.8 ")
        self.assertIn("update the NVIDIA driver", problem["remedy"])

    def test_case_P01(self):
        """A GPU newer than NVRTC works, and the note says which version to get."""
        code, parts = self.doctor(**self.machine("12.1,9.0,12.1", nvrtc="12000"))
        self.assertEqual(code, 0)
        self.assertEqual([gpu["target"] for gpu in parts["GPU"]["facts"]["GPU"]], ["compute_90", "sm_90", "compute_90"])
        self.assertEqual(parts["GPU"]["notes"],
                         ["GPU 12.1 is newer than nvrtc 12.0: the driver finishes PTX of compute_90; "
                          "install NVRTC 12.9 or newer to compile for the GPU itself"])

    def test_a_gpu_older_than_all(self):
        code, parts = self.doctor(**self.machine("9.0,6.1"))
        self.assertEqual(code, 5)
        self.assertEqual([gpu["target"] for gpu in parts["GPU"]["facts"]["GPU"]], ["sm_90", "none"])

    def test_no_nvrtc(self):
        run = self.run_cli("doctor", code=5, **{**self.machine("12.1"), "FUSEWRIGHT_NVRTC": "/nowhere/libnvrtc.so"})
        self.assertRegex(run.stdout, r"NVRTC .*: does not work\n  note: GPU 12\.1 needs NVRTC 12\.9 or newer\n"
                                     r"  problem: .*\n  remedy: .*FUSEWRIGHT_NVRTC")
        self.assertIn("target sm_121", run.stdout)
        self.assertIn("FUSEWRIGHT_NVRTC: /nowhere/libnvrtc.so", run.stdout)

    def test_two_nvrtcs(self):
        settings = self.machine("12.1")
        del settings["FUSEWRIGHT_NVRTC"]
        _, parts = self.doctor(**settings, LD_LIBRARY_PATH=self.toolkits("12000", "13000"))
        nvrtc = parts["NVRTC"]
        self.assertEqual((nvrtc["facts"]["version"], nvrtc["facts"]["path"]),
                         ("nvrtc 13.0", os.environ["FW_FAKE_NVRTC_13000"]))
        self.assertIn({"version": "nvrtc 12.0", "path": os.environ["FW_FAKE_NVRTC_12000"],
                       "found in": "the loader's path"}, nvrtc["facts"]["also found"])
        self.assertEqual(nvrtc["notes"], ["the first in the order of the search is taken: the loader's path; "
                                          "FUSEWRIGHT_NVRTC=PATH takes another"])

    def test_an_old_nvrtc_hides_a_better_one(self):
        folder = self.toolkits("12000")
        data = self.folder / "data/fusewright/nvrtc/nvidia/cu13/lib"
        data.mkdir(parents=True)
        (data / "libnvrtc.so.13").symlink_to(os.environ["FW_FAKE_NVRTC_13000"])
        (self.folder / "lib/libnvrtc.so.13").write_text("no library")
        settings = {**self.machine("12.1"), "LD_LIBRARY_PATH": folder, "XDG_DATA_HOME": str(self.folder / "data")}
        del settings["FUSEWRIGHT_NVRTC"]
        _, parts = self.doctor(**settings)
        if parts["NVRTC"]["facts"]["version"] != "nvrtc 12.0":
            self.skipTest("the loader knows an NVRTC of CUDA 13 that comes before the made up one")
        self.assertRegex(parts["GPU"]["notes"][0], r"; FUSEWRIGHT_NVRTC=\S+ takes nvrtc 13\.\d of this machine, which can$")

    def test_what_install_deps_has_fetched_is_found(self):
        data = self.folder / "data/fusewright/nvrtc/nvidia/cu13/lib"
        data.mkdir(parents=True)
        (data / "libnvrtc.so.13").symlink_to(os.environ["FW_FAKE_NVRTC_13000"])
        settings = {**self.machine(), "XDG_DATA_HOME": str(self.folder / "data")}
        del settings["FUSEWRIGHT_NVRTC"]
        facts = self.doctor(**settings)[1]["NVRTC"]["facts"]
        self.assertIn("what tools/install-deps fetched",
                      [found["found in"] for found in [facts, *facts.get("also found", [])]])

    def test_a_driver_older_than_nvrtc(self):
        code, parts = self.doctor(**self.machine(version=12040))
        self.assertEqual((code, parts["GPU"]["notes"]),
                         (0, ["the driver is of CUDA 12.4 and may refuse code of nvrtc 13.0; "
                              "update it, or install NVRTC 12"]))

    def test_cpu_and_cache_are_described(self):
        text = self.run_anyhow("doctor").stdout
        self.assertIn("CPU backend: ok", text)
        self.assertIn("features: ", text)
        self.assertIn(f"folder: {self.cache}", text)
        cache = self.doctor()[1]["kernel"]["facts"]
        self.assertEqual((cache["folder"], cache["writable"], cache["entries"]), (str(self.cache), True, 0))
        self.assertGreater(cache["free_bytes"], 0)

    def test_read_only_folders(self):
        shipped = self.folder / "shipped"
        shipped.mkdir(mode=0o700)
        _, parts = self.doctor(FUSEWRIGHT_CACHE_READ_ONLY=f"{shipped}:/nowhere/kernels")
        self.assertEqual(parts["kernel"]["facts"]["read only"], [{"folder": str(shipped), "entries": 0}])
        note, = parts["kernel"]["notes"]
        self.assertIn("/nowhere/kernels", note)

    def test_no_cache_folder_is_7(self):
        file = self.write("file", "")
        code, parts = self.doctor(**self.machine(), FUSEWRIGHT_CACHE_DIR=str(self.folder / file))
        self.assertEqual((code, parts["kernel"]["ok"]), (7, False))

    def test_every_setting_with_a_wrong_value_is_named(self):
        run = self.run_cli("doctor", code=2, **self.machine(), FUSEWRIGHT_STRICT="maybe", FUSEWRIGHT_LOG="loud")
        for words in ("expected 0 or 1 in FUSEWRIGHT_STRICT, got 'maybe'", "in FUSEWRIGHT_LOG, got 'loud'",
                      "CPU backend: ok"):
            self.assertIn(words, run.stdout)

    def test_works_without_a_home(self):
        nothing = {"HOME": "", "XDG_CACHE_HOME": "", "FUSEWRIGHT_CACHE_DIR": ""}
        self.assertIn("CPU backend: ok", self.run_anyhow("doctor", **nothing).stdout)


if __name__ == "__main__":
    main()
