# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The programs that the tool of the same name documents run as written, but on this machine."""

from __future__ import annotations

from conftest import Project

DETACHED = """
import kinetic

kinetic.configure(local=True)  # the only line that is not theirs

@kinetic.run()
def train_model():
    # Long-running training code
    return {"final_loss": 0.123}

job = train_model.run_async()
print(f"Submitted: {job.job_id}")
# ... do something else, possibly close the script entirely ...
final = job.result(timeout=3600)   # blocks until done
print(final)
"""


def test_first_detached_job(local: Project) -> None:
    submitted, final = local.run(DETACHED).stdout.splitlines()
    assert submitted.startswith("Submitted: cpu-train-model-")
    assert final == "{'final_loss': 0.123}"


REATTACHED = """
for j in kinetic.list_jobs():
    print(f"{j.job_id}  {j.func_name}  {j.status().value}")
job = kinetic.attach(j.job_id)
job.wait()
print(f"Status: {job.status().value}")
print(job.tail(n=20))
try:
    final = job.result(timeout=3600, cleanup=False)
except TimeoutError:
    print(job.tail(n=50))
print(final)
job.cleanup(k8s=True, gcs=False)   # later: delete pod, keep artifacts
print(job.status() is kinetic.job_status.JobStatus.NOT_FOUND)
print(job.result())
"""


def test_reattaching(local: Project) -> None:
    local.run(DETACHED.partition("final =")[0])
    done = local.run("import kinetic\nkinetic.configure(local=True)\n" + REATTACHED, name="other.py")
    listed, *rest = done.stdout.splitlines()
    assert listed.split()[1] == "train_model"
    assert rest == ["Status: SUCCEEDED", "", "{'final_loss': 0.123}", "True", "{'final_loss': 0.123}"]
