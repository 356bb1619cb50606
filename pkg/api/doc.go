// Package api holds the nouns that the other packages exchange: what a user asked for
// (Request), what will run (Spec, Call), how it is recorded (Handle) and how it went
// (Status, Result, End). They are plain data: no I/O, no defaults that depend on the
// machine, no import of another package of this module.
//
// Documents that live in the store (Call, Handle, Attempt, Result, End, Index)
// carry a version and use snake_case keys, which they share with the Python
// tool this product descends from. What a command prints with -o json uses
// camelCase, as kubectl does.
package api
