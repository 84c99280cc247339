#!/usr/bin/env python3
"""`bench` on the CPU: what it says of tensors and bytes, not how fast they are."""
import json
import os
import re
import xml.etree.ElementTree

from cli import Cli, main, RMSPROP


class Bench(Cli):
    def rows(self, *arguments):
        return self.json_of("bench", "--device", "cpu", "--rounds", "1", *arguments)["rows"]

    def test_bytes_count_every_read_and_write_once(self):
        row, = self.rows("adamw", "--dtype", "grad=bf16", "--tensors", "1000,3x64")
        self.assertEqual((row["tensors"], row["elements"], row["bytes"]), (4, 1192, 1192 * 26))
        self.assertEqual(row["dtypes"], "p=f32 g=bf16 m=f32 v=f32")
        self.assertGreater(row["us"], 0)
        self.assertGreater(row["percent_of_stream"], 0)
        self.assertNotIn("id", row)  # the figures to reach are those of GPUs

    def test_each_pass_of_a_whole_step_counts(self):
        step = ["adamw", "--feature", "unscale,clip,copy,guard", "--tensors", "70000,3x64,0"]
        # The norm reads the gradients: 4 of 34 bytes, 2 of 30 where they are bf16.
        for dtypes, bytes_each in (("p.copy=bf16", 34), ("grad=bf16,p.copy=bf16", 30)):
            row, = self.rows(*step, "--dtype", dtypes)
            self.assertEqual((row["elements"], row["bytes"], row["launches"]), (70192, 70192 * bytes_each, 2))
            self.assertNotIn("all.norm", row["dtypes"])

    def test_numbers_per_tensor_and_in_all_are_no_traffic(self):
        for op, bytes_each in (("l2norm", 4), ("nonfinite", 4), ("clip_by_norm", 12), ("unscale", 12)):
            row, = self.rows(op, "--dtype", "x=f32", "--tensors", "1000,3x64")
            self.assertEqual(row["bytes"], 1192 * bytes_each, op)
        row, = self.rows("l2norm", "--option", "each=true", "--tensors", "1000,3x64")
        self.assertEqual(row["bytes"], 1192 * 4)
        row, = self.rows("loss_scale", "--tensors", "8")  # numbers alone
        self.assertEqual((row["bytes"], row["percent_of_stream"]), (0, 0))

    def gpu_rows(self, *arguments):
        """On the fake driver: what is queued, not how long it takes."""
        needed = {"FUSEWRIGHT_CUDA_DRIVER": "FW_FAKE_CUDA", "FAKE_CUDA_KERNELS": "FW_BENCH_TWINS"}
        if any(name not in os.environ for name in needed.values()):
            self.skipTest(f"needs {', '.join(needed.values())}")
        self.need_nvrtc()
        settings = {name: os.environ[value] for name, value in needed.items()}
        return self.json_of("bench", "--rounds", "1", *arguments, FAKE_CUDA_DEVICES="9.0",
                            FAKE_CUDA_MEMORY=str(1 << 30), **settings)["rows"]

    def test_gpu_steps_are_held_against_copies_and_norms_against_reads(self):
        step, = self.gpu_rows("adamw", "--feature", "unscale,clip,guard", "--tensors", "70000,3x64")
        norm, = self.gpu_rows("l2norm", "--dtype", "x=f32", "--tensors", "70000,3x64")
        self.assertEqual((step["launches"], step["bytes"]), (2, 70192 * 32))
        self.assertEqual(len(step["schedule"].split(" | ")), 2)
        self.assertNotIn("id", step)  # no figure is for a step of two passes without its copy
        self.assertGreater(step["percent_of_copy"], 0)
        self.assertEqual((norm["id"], norm["floor"], norm["goal"]), ("P7", 95, 98))
        self.assertEqual((norm["launches"], norm["bytes"]), (1, 70192 * 4))
        self.assertGreater(norm["percent_of_read"], 0)
        self.assertIn("threads", norm["fastest_read"])
        self.assertNotIn("percent_of_copy", norm)

    def test_models_have_the_published_numbers_of_elements(self):
        row, = self.rows("scale", "--dtype", "in=e4m3fn", "--tensors", "resnet-50")
        self.assertEqual((row["tensors"], row["elements"]), (161, 25557032))

    def test_several_ops_and_lists_with_a_users_op(self):
        mine = self.write("rmsprop.fuse", RMSPROP)
        rows = self.rows(mine, "axpby", "--tensors", "100", "--tensors", "200")
        self.assertEqual([(row["op"], row["list"]) for row in rows],
                         [("rmsprop", "100"), ("rmsprop", "200"), ("axpby", "100"), ("axpby", "200")])
        self.assertEqual(rows[0]["bytes"], 100 * 28)

    def test_plot_is_a_picture_with_a_bar_for_each_row(self):
        text = self.run_cli("bench", "axpby", "--device", "cpu", "--rounds", "1", "--tensors", "100", "--tensors", "200",
                            "--plot", "bars.svg").stdout
        self.assertEqual(len(re.findall(r"^axpby ", text, re.M)), 2)
        picture = xml.etree.ElementTree.parse(self.folder / "bars.svg").getroot()
        words = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("axpby, f32, 100", words)
        self.assertIn("axpby, f32, 200", words)

    def test_rows_by_id_are_saved(self):
        self.run_cli("bench", "--id", "P4,P7", "--device", "cpu", "--rounds", "1", "--tensors", "100", "--save", "rows.json")
        rows = json.loads((self.folder / "rows.json").read_text())["rows"]
        self.assertEqual([(row["op"].split()[0], row["bytes"]) for row in rows],
                         [("adamw", 3400), ("l2norm", 400), ("l2norm", 200), ("infnorm", 400), ("infnorm", 200)])
        rows = self.rows("infnorm", "--id", "P7", "--tensors", "100")
        self.assertEqual([row["op"] for row in rows], ["infnorm", "infnorm"])

    def test_mistakes_are_told(self):
        self.assertIn("--id: expected P1, P2, P22, P4", self.run_cli("bench", "--id", "P99", "--device", "cpu", code=2).stderr)
        self.assertIn("--save", self.run_cli("bench", "--id", "P4", "--device", "cpu", "--tensors", "8", "--rounds", "1", "--save",
                                             "no/such/rows.json", code=2).stderr)
        for text in ("llama", "resnet-50,100", "12q", "-4", "1x2x3", "", "0", "0,3x0", "99999999999999", "2000000x1"):
            run = self.run_cli("bench", "scale", "--device", "cpu", f"--tensors={text}", code=2)
            self.assertIn("--tensors", run.stderr + run.stdout)
        self.assertIn("of at most 1099511627776 elements", run.stderr)
        self.assertIn("expected cpu, cuda or cuda:N", self.run_cli("bench", "--device", "tpu", code=2).stderr)
        self.assertIn("--plot", self.run_cli("bench", "scale", "--device", "cpu", "--tensors", "8", "--rounds", "1", "--plot",
                                             "no/such/folder.svg", code=2).stderr)

    def test_without_a_driver_the_remedy_is_told(self):
        for command in (["bench", "scale"], ["verify", "scale", "--device", "cuda"]):
            run = self.run_cli(*command, code=4, FUSEWRIGHT_CUDA_DRIVER="/no/such/libcuda.so.1")
            self.assertIn("FUSEWRIGHT_CUDA_DRIVER", run.stderr)
        self.assertNotIn("--device cpu", run.stderr)
        run = self.run_cli("bench", "scale", code=4, FUSEWRIGHT_CUDA_DRIVER="/no/such/libcuda.so.1")
        self.assertTrue(run.stderr.splitlines()[0].endswith(", or time the CPU: --device cpu"), run.stderr)


if __name__ == "__main__":
    main()
