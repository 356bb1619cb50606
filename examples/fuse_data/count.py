"""Data that a job reads through a mount, without a copy of all of it.

    python3 examples/fuse_data/count.py gs://my-bucket/texts
    python3 examples/fuse_data/count.py DIRECTORY --local

In a cluster, a bucket or a local directory is mounted (fuse=True): only what is read travels. With
--local the function gets the directory itself.
"""

import argparse
from collections import Counter
from pathlib import Path

import kinetic


@kinetic.run()
def count(texts: str) -> list:
    """Return the five most frequent words of all text files below the directory texts."""
    words = Counter()
    for file in sorted(Path(texts).rglob("*.txt")):
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                words.update(line.lower().split())
    return words.most_common(5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", help="a directory with .txt files, or gs://BUCKET/FOLDER/")
    parser.add_argument("--local", action="store_true", help="run on this machine")
    options = parser.parse_args()
    kinetic.configure(local=options.local)
    print(count(kinetic.Data(options.texts, fuse=not options.local)) or f"no .txt files in {options.texts}")
