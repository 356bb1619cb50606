package stack

import (
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
)

// Base is what up, down and status have in common.
type Base struct {
	Streams    genericiooptions.IOStreams
	Clock      clock.PassiveClock
	Connection *connect.Flags
}

// NewBase returns a Base whose notices go to standard error.
func NewBase(streams genericiooptions.IOStreams, now clock.PassiveClock) *Base {
	c := &Base{Streams: streams, Clock: now, Connection: connect.NewFlags()}
	c.Connection.SetNotices(streams.ErrOut)
	return c
}
