package api

import "time"

// KeepWarm is what the user said about warm hosts: pods that stay after a call and take further calls.
type KeepWarm struct {
	// Idle is for how long a host stays without a call; 0 means that the job uses no warm host.
	Idle time.Duration
	// Level says how much of a call is kept for the next one.
	Level WarmLevel
	// Limit is for how long a host begins calls.
	Limit time.Duration
	// Chosen means that the user said for how long, maybe 0. ByDefault means that it was said for all jobs: those that can't use a warm
	// host use none.
	Chosen, ByDefault bool
	// Fresh never uses a host that is there. Only fails if there is none. Wait waits for one that is busy or starting.
	Fresh, Only, Wait bool
}

// WarmLevel says how much of a call a warm host keeps for the next one.
type WarmLevel string

// The levels.
const (
	WarmClean     WarmLevel = "clean"     // the pod, its files and packages: each call has a new Python
	WarmPreloaded WarmLevel = "preloaded" // the packages that were imported, too: each call is a fork of a process that has them
	WarmProcess   WarmLevel = "process"   // the process, with its devices and what the code keeps in it
)

// DefaultWarmLimit is KeepWarm.Limit, and DefaultWarmRuntime how long a call on a warm host may run, unless the user says so.
const (
	DefaultWarmLimit   = 2 * time.Hour
	DefaultWarmRuntime = 24 * time.Hour
)

// Warm makes a job a warm host.
type Warm struct {
	// Longest is for how long a call may run.
	Longest time.Duration
	// Key stands for the place of the calls: all that their pods have in common. Parts says what it consists of, as JSON, for people.
	Key, Parts string
	// Secrets is a keyed hash of the values of Spec.SecretEnv.
	Secrets string
	// Owner is whose calls the host takes.
	Owner string
	// Inbox means that its pods also take calls through the store, since the owner has no permission to forward ports.
	Inbox bool
	// First is the call with which the host begins.
	First WarmCall
}

// WarmCall is a call as a warm host gets it: what differs between the pods of two calls at one place.
type WarmCall struct {
	ID string `json:"id"`
	// Argv are the flags of the call's runner, and Environ its variables.
	Argv    []string          `json:"argv"`
	Environ map[string]string `json:"environ"`
	// Objects are what the call consists of, by their names in the store, which need not have them yet.
	Objects map[string][]byte `json:"objects,omitempty"`
	// Idle is for how many seconds the host then stays without a call.
	Idle float64 `json:"idle,omitempty"`
	// Wait says to run it after the call that is running.
	Wait bool `json:"wait,omitempty"`
}

// Names and numbers of warm hosts.
const (
	// WarmName is the middle of the ID of a warm host.
	WarmName = "warm"
	// LabelWarm carries Warm.Key.
	LabelWarm = AnnotationPrefix + "warm"
	// These annotations carry fields of Warm, and KeepWarm.Idle of its first call.
	AnnotationWarmPlace   = AnnotationPrefix + "warm-place"
	AnnotationWarmOwner   = AnnotationPrefix + "warm-owner"
	AnnotationWarmSecrets = AnnotationPrefix + "warm-secrets"
	AnnotationWarmIdle    = AnnotationPrefix + "warm-idle"
	AnnotationWarmInbox   = AnnotationPrefix + "warm-inbox"
)

// EnvWarmKey has the secret by which a warm host knows its clients. It is a key of the host's Secret.
var EnvWarmKey = Contract.Names.WarmKey

// WarmPort is where a warm host takes calls, on the pod's 127.0.0.1.
var WarmPort = Contract.Ports.Warm
