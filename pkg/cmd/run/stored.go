package run

import (
	"fmt"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/explain"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/human"
	"github.com/kubectl-kinetic/kinetic/pkg/submit"
)

// largeUpload is from how many new bytes on the upload is a phase of its own.
const largeUpload = 10 << 20

// upload is when the store got what a job needs.
type upload struct{ began, ended time.Time }

// showStored says what was packaged, and how much of it the store did not have.
func (o *options) showStored(p submit.Planned, sent submit.Submitted, u upload) {
	packaged, bytes := u.ended, sent.Stats.NewBytes+sent.Data.NewBytes
	if p.Spec.Payload != nil {
		bytes += p.Spec.Payload.Size
	}
	if bytes >= largeUpload {
		packaged = u.began
	}
	text := fmt.Sprintf("%s, %s, %s new", human.Count(len(p.Files.Index.Files), "file"), human.Bytes(p.Files.Bytes), human.Bytes(sent.Stats.NewBytes))
	if p.Files.LeftOut != nil {
		text += "; left out: " + explain.LeftOut(p.Files.LeftOut)
	}
	o.ui.PhaseUntil(packaged, "packaged", text)
	if files, size := p.Data.Stored(); files > 0 {
		o.ui.PhaseUntil(packaged, "data", fmt.Sprintf("%s, %s, %s new", human.Count(files, "file"), human.Bytes(size), human.Bytes(sent.Data.NewBytes)))
	}
	if p.Spec.Payload != nil {
		o.ui.PhaseUntil(packaged, "payload", human.Bytes(p.Spec.Payload.Size)+", the pickled function and its arguments")
	}
	if bytes < largeUpload {
		return
	}
	text = human.Bytes(bytes)
	if took := u.ended.Sub(u.began).Seconds(); took > 0 {
		text += fmt.Sprintf(", %s/s", human.Bytes(int64(float64(bytes)/took)))
	}
	o.ui.PhaseUntil(u.ended, "uploaded", text)
}
