import os


def count(words):
    """The names and sizes of the files below a path, and whether Cloud Storage FUSE serves them."""
    files = [[name, os.path.getsize(os.path.join(words, name))] for name in sorted(os.listdir(words))]
    with open("/proc/self/mounts") as mounts:
        fuse = any("fuse" in kind and words.startswith(path) for _, path, kind, *_ in map(str.split, mounts))
    return [files, fuse]
