# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""A warm host: a pod that takes one call after the other.

    hold        the program
    holder      takes calls from its port, gives each to a runner, and ends the host
    connections connections of a holder: what clients ask for, and the output that they follow
    inbox       connections through the store, for clients without permission to forward ports
    group       the holders of several hosts, which run each call together
    frames      what client and holder tell each other over a connection
    calls       one call, its log and how it ended, and the runner that waits for the next one
    ends        ends of calls that their runners could not record
    ready       that runner: an ordinary one that has started before its call
    swept       what the runner knows of its project's files before it has a call
    relay       its child, which hands the call to the process that is kept, if that can run it
    keeper      starts the process that is kept, and replaces it
    kept        that process: it has imported packages, and forks the process of each call
    resident    a fork that runs one call after the other
    handover    what relay and kept tell each other
    similar     which calls can use what was started before them
    imports     the packages to import
    seeds       random numbers of forks
    variables   what imports change in the variables of a process
    leftovers   processes and files that a call has left

Only warm hosts get this folder: see zip.go.
"""
