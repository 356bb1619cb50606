# Fetches a data set as a pod does: URL of the store, of its emulator, hash, directory.
import sys

from kinetic_runner.data.dataset import fetch_set
from kinetic_runner.store import open_store

url, emulator, sha256, target = sys.argv[1:]
fetch_set(open_store(url, emulator), sha256, target)
