//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-kinetic/kinetic/hack/bench/depot"
)

const largeMemberSize = 512 << 20

// large: a wheel of 2 GB becomes a layer and is sent.
func (i *imageBench) large(ctx context.Context) error {
	w, err := i.MakeWheel("large", "1", largeMemberSize, largeMemberSize, largeMemberSize, largeMemberSize)
	if err != nil {
		return err
	}
	defer os.Remove(filepath.Join(i.Dir, w.File))
	m := i.making(ctx, "")
	m.limit, m.locked = 2*w.Size, func() []depot.Wheel { return []depot.Wheel{w} }
	s, report, err := m.run()
	if err != nil {
		return err
	}
	i.row(fmt.Sprintf("image with a wheel of %s", mb(w.Size)), ms(s), "", traffic(report), "")
	i.row("memory for that", mb(s.rss), "", "", "<= 200 MB")
	return nil
}
