#!/usr/bin/env python3
"""Embeds text files: OUT DEPFILE FOLDER GLOB writes one `{"name", "text"},` row per file.

Names are relative to FOLDER, with '/', and sorted; subfolders are entered. The depfile names every
folder and every file, so that adding, editing or removing a file runs this step again and nothing
else does (Meson has no glob of its own).
"""
import fnmatch
import os
import sys

COLUMNS = 96


def find(folder, pattern):
    """Folders entered, and (name, path) of the files that match, both sorted."""
    folders, files = [], []
    for root, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(s for s in subfolders if not s.startswith('.'))
        folders.append(root)
        for name in fnmatch.filter(names, pattern):
            path = os.path.join(root, name)
            files.append((os.path.relpath(path, folder).replace(os.sep, '/'), path))
    return folders, sorted(files)


def literal(data):
    """C string literals for `data`. Every byte outside plain ASCII is a three digit octal escape, so
    neither a delimiter nor a digit that follows can change the meaning; the pieces stay short."""
    pieces, piece = [], ''
    for byte in data:
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        piece += chr(byte) if plain else '\\%03o' % byte
        if len(piece) >= COLUMNS or byte == 10:
            pieces.append(piece)
            piece = ''
    if piece or not pieces:
        pieces.append(piece)
    return '\n'.join('   "%s"' % p for p in pieces)


def depfile_path(path):
    return path.replace(' ', '\\ ')


def main(out, depfile, folder, pattern):
    folders, files = find(folder, pattern)
    rows = []
    for name, path in files:
        with open(path, 'rb') as file:
            data = file.read()
        if b'\0' in data:
            sys.exit('embed.py: expected text, got a zero byte in %s' % path)
        rows.append('{"%s",\n%s},\n' % (name, literal(data)))
    with open(out, 'w', encoding='ascii') as file:
        file.write(''.join(rows))
    with open(depfile, 'w', encoding='utf-8') as file:
        inputs = folders + [path for _, path in files]
        file.write('%s: %s\n' % (depfile_path(out), ' '.join(map(depfile_path, inputs))))


if __name__ == '__main__':
    if len(sys.argv) != 5:
        sys.exit('usage: embed.py OUT DEPFILE FOLDER GLOB')
    main(*sys.argv[1:])
