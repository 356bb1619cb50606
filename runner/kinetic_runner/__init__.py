# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""The program that runs a job's call, in a pod or as a local process. The standard library only.

    ahead                     starts the interpreter of a function call, then main
    main                      chooses what this process does
    single, hosts/, maps/     a job on one host, on several, and a chunk of a map: each from start to end
    attempt                   the steps that they share: count, fetch, run, judge
    publish, losses, judge    what remains of an attempt
    supervisor, place         one child: its output, its signals, its clocks
    errands, spool, log       the log, on its way to stdout and to the store
    records, bundle, call     documents of the store
    store/                    objects by name, in a bucket or in a directory
    threads                   as many as there may be
    process                   a child, and how it is started
    child/                    the processes that run the user's code; nothing of the above

Imports point downwards in this list.
"""
