"""Install the wheels of a directory with the runner, as a pod does: unpack.py RUNNER STORE LIST DIRECTORY"""

import json
import os
import sys

runner, url, listed, directory = sys.argv[1:]
sys.path.insert(0, runner)

from kinetic_runner.packages.install import Installation, parse_wheels  # noqa: E402
from kinetic_runner.packages.venv import Venv  # noqa: E402
from kinetic_runner.store import open_store  # noqa: E402

with open(listed, encoding="utf-8") as file:
    document = json.load(file)
folder = os.path.join(directory, "wheels")
os.makedirs(folder)
Installation(open_store(url), parse_wheels(document, listed), folder, Venv(os.path.join(directory, "env"))).run()
