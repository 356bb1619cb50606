// Package cmd has no code of its own. Below it lie the commands, and what they share; its tests
// run whole command lines.
//
//   - A command lies where its user looks for it: run, jobs, pool, up, down, status,
//     doctor, initialize (init), profile, config, accelerators, buildimage; top is
//     the screen of `jobs top`, explain is `run --explain`, stack is what up, down and
//     status share. frontdoor is `kubectl kinetic` itself, which becomes the binary of the
//     command.
//   - cli is the frame: streams, signals, help, exit codes, questions, JSON and YAML.
//   - connect makes a connection from flags, backend makes what runs jobs, packaging what
//     provides packages. This is the wiring.
//   - report prints states, results and logs; ui is the terminal; event is the same for programs.
//
// A command's way: Flags hold what was typed, toOptions turns them into ready things, Run(ctx)
// uses these alone.
package cmd
