# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program that runs a job's call, in a pod or as a local process. It uses the standard library only.

    ahead                     starts the interpreter of a function call, then main
    main                      chooses what this process does
    single, hosts/, maps/     a job on one host, a job on several hosts, and a chunk of a map, from start to end
    attempt                   the steps that they share: count, fetch, run, judge
    packages/                 the packages of --environment, installed before the call
    publish, losses, judge    the outcome of an attempt, and how it is stored
    mounts                    what file errors of a call mean
    supervisor, place         one child: its output, signals and time limits
    errands, spool, log       the log, on its way to stdout and to the store
    records, bundle, call     documents in the store
    store/                    objects by name, in a bucket or in a directory
    threads                   as many threads as the limits allow
    process                   a child process, and how to start it
    child/                    the processes that run the user's code; they import nothing from above

Imports point downwards in this list.
"""
