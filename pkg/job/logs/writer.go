package logs

import (
	"context"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/job/logs/display"
)

// WriteHosts calls write for the chosen host, or for all hosts at the same time, and shows in w what they write to log. They write
// a log as the runner wrote it. WriteHosts returns the first error.
func WriteHosts(ctx context.Context, o Options, w display.Streams, write func(ctx context.Context, host int, log io.Writer) error) error {
	if !o.Merges() {
		host := max(o.Host, 0)
		return write(ctx, host, o.decoder(w, host))
	}
	mux := o.multiplexer(w)
	g, ctx := errgroup.WithContext(ctx)
	for host := range o.Hosts {
		g.Go(func() error {
			d := o.decoder(mux.Host(host), host)
			if err := write(ctx, host, d); err != nil {
				return err
			}
			return d.Next()
		})
	}
	return g.Wait()
}
