# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Forwards a port of a pod to this machine, for programs that do so themselves. JobHandle.debug_attach needs none of it."""

from __future__ import annotations

import contextlib
import subprocess

from ..errors import KineticError

DEBUGPY_PORT = 5678
PATIENCE = 5.0  # seconds in which kubectl must end


def start_port_forward(pod_name: str, namespace: str, local_port: int, remote_port: int = DEBUGPY_PORT) -> subprocess.Popen[str]:
    """Start `kubectl port-forward`, and return its process once the port is open.

    Args:
        pod_name: the name of the pod.
        namespace: its namespace.
        local_port: the port on this machine.
        remote_port: the port in the pod.

    Raises:
        KineticError: kubectl is missing, or says why it can't.
    """
    words = ["kubectl", "port-forward", f"pod/{pod_name}", f"{local_port}:{remote_port}", "-n", namespace]
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as exc:
        raise KineticError(f"cannot run kubectl to forward a port of {pod_name}: {exc.strerror}: install kubectl") from exc
    assert process.stdout is not None
    if process.stdout.readline():  # Forwarding from 127.0.0.1:5678 -> 5678
        return process
    _, said = process.communicate()
    raise KineticError(f"forwarding port {local_port} to {pod_name} in namespace {namespace}: {said.strip() or 'kubectl said nothing'}")


def cleanup_port_forward(proc: subprocess.Popen[str]) -> None:
    """End the process that start_port_forward returned."""
    proc.terminate()
    try:
        proc.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        proc.kill()
        proc.wait()
    for stream in (proc.stdout, proc.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
