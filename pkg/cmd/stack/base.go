package stack

import (
	"context"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/connect"
)

// Base is what pool, up, down and status have in common.
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

// Confirm asks before something is done. Whoever can't be asked has to say --yes.
func (b *Base) Confirm(ctx context.Context, question, otherwise string) error {
	if why := cli.CannotAsk(b.Streams); why != "" {
		return cli.Usagef("%s; %s: confirm with --yes", question, why)
	}
	return cli.Confirm(ctx, b.Streams, question, otherwise)
}
