#!/usr/bin/env python3
"""`emit`, and the stages that FUSEWRIGHT_DUMP writes."""
from cli import Cli, main


class Emit(Cli):
    def test_stages_of_the_cpu(self):
        self.assertIn("fuse.op @adamw", self.run_cli("emit", "adamw", "--stage", "semantic").stdout)
        self.assertIn("fuse.each", self.run_cli("emit", "adamw", "--stage", "phases").stdout)
        self.assertIn("define", self.run_cli("emit", "adamw", "--stage", "llvm").stdout)

    def test_cuda_text_needs_no_nvrtc(self):
        text = self.run_cli("emit", "adamw", "--stage", "cuda", "--arch", "sm_90", "--dtype", "grad=bf16",
                            FUSEWRIGHT_NVRTC="/nowhere/libnvrtc.so").stdout
        self.assertIn("__global__", text)
        self.assertIn("E4", text)

    def test_a_virtual_arch_has_the_text_of_its_number(self):
        def text(stage, arch):
            return self.run_cli("emit", "scale", "--stage", stage, "--arch", arch).stdout
        self.assertEqual(text("cuda", "compute_90"), text("cuda", "sm_90"))
        self.assertEqual(text("phases", "compute_75"), text("phases", "sm_75"))

    def test_decisions_can_be_set(self):
        text = self.run_cli("emit", "adamw", "--stage", "phases", "--arch", "sm_90", "--schedule", "threads=256").stdout
        self.assertIn("threads = 256", text)

    def test_stage_and_target_must_fit(self):
        self.assertIn("`fusewright doctor` lists them", self.run_cli("emit", "adamw", "--stage", "cuda", code=2).stderr)
        self.assertIn("leave the arch out", self.run_cli("emit", "adamw", "--stage", "llvm", "--arch", "sm_90", code=2).stderr)

    def test_strict_mode_compiles_no_ptx(self):
        run = self.run_cli("emit", "scale", "--stage", "ptx", "--arch", "sm_90", code=6, FUSEWRIGHT_STRICT="1")
        self.assertIn("ask for the stage cuda, or leave strict mode", run.stderr)
        self.run_cli("emit", "scale", "--stage", "cuda", "--arch", "sm_90", FUSEWRIGHT_STRICT="1")

    def test_ptx(self):
        self.need_nvrtc()
        self.assertIn(".entry", self.run_cli("emit", "scale", "--stage", "ptx", "--arch", "sm_90").stdout)


class Dump(Cli):
    def stages(self, folder):
        """{symbol and key: its stages}"""
        files = {}
        for path in folder.iterdir():
            stem, _, stage = path.name.partition(".")
            files.setdefault(stem, set()).add(stage)
        return files

    def test_every_stage_of_every_program(self):
        self.need_nvrtc()
        folder = self.folder / "dump"
        for option in ("false", "true"):
            self.run_cli("precompile", "--arch", "cpu,sm_90", "--ops", "adamw", "--option", f"amsgrad={option}",
                         FUSEWRIGHT_DUMP=str(folder))
        self.run_cli("precompile", "--arch", "cpu", "--ops", "adamw", "--option", "decay=l2",
                     FUSEWRIGHT_DUMP=str(folder))
        common = {"request", "semantic.mlir", "contracted.mlir", "phases.mlir"}
        stages = list(self.stages(folder).values())
        self.assertEqual(stages.count(common | {"ll"}), 3)
        self.assertEqual(stages.count(common | {"schedule.mlir", "cu", "ptx"}), 2)
        self.assertEqual(len(stages), 5)

    def test_a_folder_that_cannot_be_written_is_one_warning(self):
        file = self.write("file", "")
        run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale,sgd", FUSEWRIGHT_DUMP=str(self.folder / file))
        self.assertEqual(run.stderr.count("FUSEWRIGHT_DUMP"), 1, run.stderr)

    def test_many_operands_have_short_names(self):
        names = [f"operand_number_{i}" for i in range(120)]
        wide = self.write("wide.fuse", f"op wide over elements {{\n  in {', '.join(names)};  out y\n"
                                       f"  y = {' + '.join(names)}\n}}\n")
        folder = self.folder / "dump"
        self.run_cli("precompile", "--arch", "cpu", "--ops", wide, "--dtype", "in=f32", FUSEWRIGHT_DUMP=str(folder))
        (stem, _), = self.stages(folder).items()
        self.assertLessEqual(len(stem), 200)


if __name__ == "__main__":
    main()
