"""Processes that call functions together, as ranks of a process group. torch of every process is started once per set."""
import importlib
import multiprocessing
import tempfile
import traceback
from pathlib import Path

TIMEOUT = 120  # seconds for one call


def serve(rank, size, store, connection, backend):
    """A rank: calls the functions of a module that it is told, until it is told to end."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    if backend == "nccl":
        torch.cuda.set_device(rank)
    dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=size)
    while (call := connection.recv()) is not None:
        module, name, arguments = call
        try:
            connection.send((True, getattr(importlib.import_module(module), name)(rank, *arguments)))
        except BaseException:  # the other ranks may wait: the test ends them
            connection.send((False, traceback.format_exc()))
    dist.destroy_process_group()


class Ranks:
    """`size` processes of one process group. A call that fails ends them; the next one starts others."""

    def __init__(self, size, backend="gloo"):
        self.size, self.backend = size, backend
        self.connections, self.processes = [], []

    def start(self):
        self.folder = tempfile.TemporaryDirectory()
        context = multiprocessing.get_context("spawn")
        for rank in range(self.size):
            here, there = context.Pipe()
            arguments = (rank, self.size, str(Path(self.folder.name) / "store"), there, self.backend)
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            self.connections.append(here)
            self.processes.append(process)

    def call(self, function, *arguments):
        """function(rank, *arguments) on each rank; the list of what they return. Fails where a rank does."""
        if not self.processes:
            self.start()
        for connection in self.connections:
            connection.send((function.__module__, function.__name__, arguments))
        results = []
        for rank, connection in enumerate(self.connections):
            succeeded, result = connection.recv() if connection.poll(TIMEOUT) else (False, f"no answer in {TIMEOUT} s")
            if not succeeded:
                self.end()
                raise AssertionError(f"rank {rank}: {result}")
            results.append(result)
        return results

    def close(self):
        """Lets them leave their group."""
        for connection in self.connections:
            connection.send(None)
        for process in self.processes:
            process.join(10)
        self.end()

    def end(self):
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join(10)
        if self.processes:
            self.folder.cleanup()
        self.connections, self.processes = [], []
