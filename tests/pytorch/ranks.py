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
    """`size` processes of one process group."""

    def __init__(self, size, backend="gloo"):
        self.folder = tempfile.TemporaryDirectory()
        context = multiprocessing.get_context("spawn")
        self.connections, self.processes = [], []
        for rank in range(size):
            here, there = context.Pipe()
            arguments = (rank, size, str(Path(self.folder.name) / "store"), there, backend)
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            self.connections.append(here)
            self.processes.append(process)

    def call(self, function, *arguments):
        """function(rank, *arguments) on each rank; the list of what they return. Fails where a rank does."""
        for connection in self.connections:
            connection.send((function.__module__, function.__name__, arguments))
        results = []
        for rank, connection in enumerate(self.connections):
            if not connection.poll(TIMEOUT):
                self.end()
                raise AssertionError(f"rank {rank} has not answered in {TIMEOUT} s; got {results}")
            succeeded, result = connection.recv()
            if not succeeded:
                self.end()
                raise AssertionError(f"rank {rank}: {result}")
            results.append(result)
        return results

    def close(self):
        for connection, process in zip(self.connections, self.processes):
            if process.is_alive():
                connection.send(None)
        for process in self.processes:
            process.join(10)
        self.end()

    def end(self):
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self.folder.cleanup()
