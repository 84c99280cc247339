"""What gpt.py tells while it trains and afterwards: a bar, a table, a verdict, a plot, a JSON file."""
import importlib.util
import json
import platform
import sys

import torch

NOISE = "torch, other batches"
SHOWN_EVERY = 10  # steps: reading a loss waits for the device


def fail(expected, got, remedy):
    print(f"error: expected {expected}, got {got}; {remedy}", file=sys.stderr)
    sys.exit(2)


class Progress:
    """A bar of tqdm's on a terminal; one line that is written anew where tqdm is not installed."""

    def __init__(self, label, steps):
        self.label, self.steps, self.bar = f"{label:21}", steps, None
        self.terminal = sys.stderr.isatty()

    def __enter__(self):
        if self.terminal and importlib.util.find_spec("tqdm"):
            import tqdm
            self.bar = tqdm.tqdm(total=self.steps, desc=self.label, unit="step")
        return self

    def show(self, number, losses):
        done = number + 1
        if not self.terminal or (done % SHOWN_EVERY and done < self.steps):
            return
        loss = losses[number].item()
        if self.bar:
            self.bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)
            self.bar.update(done - self.bar.n)
        else:
            print(f"\r{self.label}: step {done} of {self.steps}, loss {loss:.3f}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_):
        if self.bar:
            self.bar.close()
        elif self.terminal:
            print(file=sys.stderr)


def smooth(losses):
    """Means of 24 stretches of the curve (of every step of a shorter one): a batch's own luck is no part of it."""
    width = max(len(losses) // 24, 1)
    return [sum(losses[at:at + width]) / width for at in range(0, len(losses) - width + 1, width)]


def distance(a, b):
    """Mean and largest difference of two smoothed curves."""
    apart = [abs(x - y) for x, y in zip(smooth(a["losses"]), smooth(b["losses"]))]
    return {"mean": sum(apart) / len(apart), "largest": max(apart)}


def compare(runs):
    """How far our curve is from torch's, and how far other batches move torch's; None where not all three ran."""
    named = {run["run"]: run for run in runs}
    if not {"torch", "fusewright", NOISE} <= named.keys():
        return None
    ours, noise = distance(named["fusewright"], named["torch"]), distance(named[NOISE], named["torch"])
    # A NaN is never equal.
    return {"difference": ours, "noise": noise, "equal": ours["mean"] <= noise["mean"]}


def print_table(runs):
    print(f"{'run':21} {'loss':>7} {'validation':>10} {'ms/step':>8} {'tokens/s':>9} {'optimizer':>10} {'share':>7}")
    for run in runs:
        spent = run["optimizer_ms"]
        optimizer = f"{spent:7.3f} ms {100 * spent / run['ms_per_step']:5.1f} %" if spent else f"{'-':>10} {'-':>7}"
        print(f"{run['run']:21} {smooth(run['losses'])[-1]:7.4f} {run['validation']:10.4f} {run['ms_per_step']:8.2f}"
              f" {run['tokens_per_s']:9.0f} {optimizer}")


def print_verdict(found):
    ours, noise = found["difference"], found["noise"]
    print(f"\nours beside torch's: losses {ours['mean']:.2g} apart on average, {ours['largest']:.2g} at most; "
          f"other batches move torch's by {noise['mean']:.2g}, {noise['largest']:.2g} at most: "
          + ("equal within noise" if found["equal"] else "not equal"))


def plot(path, runs, settings):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for run in runs:
        curve = smooth(run["losses"])
        width = len(run["losses"]) / len(curve)
        style = {"torch": "-", "fusewright": "--"}.get(run["run"], ":")
        axes.plot([width * (at + 0.5) for at in range(len(curve))], curve, style,
                  label=f"{run['run']}: {run['ms_per_step']:.3g} ms a step")
    axes.set(xlabel="step", ylabel="loss, nats a letter", title=f"{settings.dtype} weights on {device_name(settings)}")
    axes.legend()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def device_name(settings):
    if settings.device == "cuda":
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"


def write_json(path, runs, found, settings):
    chosen = {name: value for name, value in vars(settings).items() if isinstance(value, (str, int, float, bool))}
    versions = {"torch": torch.__version__, "python": platform.python_version(), "device": device_name(settings)}
    path.write_text(json.dumps({"versions": versions, "settings": chosen, "runs": runs, "comparison": found}, indent=1) + "\n")


def tell(runs, settings):
    """Prints and writes all of it; gives the exit status."""
    print_table(runs)
    found = compare(runs)
    if found:
        print_verdict(found)
    if settings.plot:
        plot(settings.plot, runs, settings)
    if settings.json:
        write_json(settings.json, runs, found, settings)
    return 0 if not found or found["equal"] else 1
