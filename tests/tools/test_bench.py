#!/usr/bin/env python3
"""`bench` on the CPU: what it says of tensors and bytes, not how fast they are."""
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

    def test_mistakes_are_told(self):
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
