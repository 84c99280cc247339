#!/usr/bin/env python3
"""Lays out the package in a build folder: links to everything in the source folder, and to libraries
that need not be built yet. Links that nothing stands for any more are removed."""
import os
import sys
from pathlib import Path


def main():
    stage, source, *libraries = (Path(argument).absolute() for argument in sys.argv[1:])
    wanted = {path.name: path for path in [*source.iterdir(), *libraries] if path.name != "__pycache__"}
    stage.mkdir(parents=True, exist_ok=True)
    for link in stage.iterdir():
        if link.is_symlink() and (link.name not in wanted or Path(os.readlink(link)) != wanted[link.name]):
            link.unlink()
    for name, path in wanted.items():
        if not (stage / name).is_symlink():
            (stage / name).symlink_to(path)


main()
