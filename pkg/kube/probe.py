# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Print what this container uses, as JSON: cores, bytes, and how busy the accelerators are. Its arguments are the address of
the node and the name of the pod. Python's standard library is enough, and the image's Python may be old."""

import json
import re
import subprocess
import sys
import time
import urllib.request

GROUP = "/sys/fs/cgroup/"
MOMENT = 0.5  # seconds over which the processor is watched
PATIENCE = 2  # seconds for an answer about accelerators
PORT = 2112  # of GKE's device plugins for TPUs and GPUs, on each node


def table(path):
    """Return the numbers of a file of the control group, by their names; the only number of one without names is under ""."""
    try:
        with open(GROUP + path, encoding="ascii") as file:
            rows = [line.split() for line in file]
        return {row[0] if len(row) > 1 else "": int(row[-1]) for row in rows if row}
    except (OSError, ValueError):
        return {}


def seconds():
    """Return how long the processors have worked for this container, None if that is not known."""
    if "usage_usec" in table("cpu.stat"):
        return table("cpu.stat")["usage_usec"] / 1e6
    return table("cpuacct/cpuacct.usage")[""] / 1e9 if table("cpuacct/cpuacct.usage") else None


def memory():
    """Return the memory that is used, without files that the kernel can drop: of control groups of version 2, then of version 1."""
    for size, more, droppable in ("memory.current", "memory.stat", "inactive_file"), ("memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"):
        if table(size):
            return max(table(size)[""] - table(more).get(droppable, 0), 0)
    return None


def of_plugin(text, pod):
    """Return the duty cycles of a pod's chips from the metrics of a device plugin."""
    rows = re.findall(r"^duty_cycle\{(.*)\} (\S+)", text, re.MULTILINE)
    return [float(value) for labels, value in rows if 'pod="%s"' % pod in labels.split(",")]


def duty(address, pod):
    """Return how busy the accelerators are in percent, None if the node does not report that."""
    values = []
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open("http://%s:%d/metrics" % (address, PORT), timeout=PATIENCE) as answer:
            values = of_plugin(answer.read().decode("utf-8", "replace"), pod)
    except (OSError, ValueError):
        pass
    if not values:
        command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        try:
            values = [float(line) for line in subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE).stdout.split()]
        except (OSError, ValueError, subprocess.TimeoutExpired):
            pass
    return sum(values) / len(values) if values else None


def main(address, pod, accelerators):
    answer = {}
    begin, before = time.monotonic(), seconds()
    answer["memoryBytes"] = memory()
    if accelerators:
        answer["acceleratorDuty"] = duty(address, pod)
    time.sleep(max(0, begin + MOMENT - time.monotonic()))
    if before is not None:
        answer["cpu"] = (seconds() - before) / (time.monotonic() - begin)
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] == "accelerators")
