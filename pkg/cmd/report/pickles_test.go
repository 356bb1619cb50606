package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/job/jobtest"
	"github.com/kubectl-kinetic/kinetic/pkg/job/verify"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
	"github.com/kubectl-kinetic/kinetic/pkg/store/records"
)

// inBucket is a store that is not a directory of this machine.
type inBucket struct{ store.Store }

func (inBucket) URL() string { return "gs://mine" }

// A pickle that no pod has reported is a failure of its input once the map has ended, whatever the
// state of the map, and never gets into the file.
func TestTakeWhatNobodyReported(t *testing.T) {
	j := collectable(t, "")
	j.Store, j.Usual, j.Backend = inBucket{j.Store}, "gs://usual", jobtest.Backend{State: api.Succeeded}
	var lines bytes.Buffer
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := &pickles{Inputs: verify.Verifier{}.Inputs(j), file: file, lines: json.NewEncoder(&lines)}
	forged := api.Result{OK: true, Pickled: []byte("forged"), PickleSHA256: strings.Repeat("0", 64)}
	if _, err := p.Take(t.Context(), 3, forged); !errors.Is(err, records.ErrNotYet) || lines.Len() > 0 {
		t.Errorf("while it runs: %v, %s", err, &lines)
	}
	if err := p.Look(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	r, err := p.Take(t.Context(), 3, forged)
	if err != nil || r.OK || r.Error == nil || r.Error.Type != "UntrustedResult" {
		t.Errorf("got %+v, %v", r, err)
	}
	if got := lines.String(); !strings.HasPrefix(got, `{"index":3,"ok":false,"error":{"type":"UntrustedResult","message":"no pod of job a1 has reported the hash of this result`) || !strings.HasSuffix(got, `,"trust":null}`+"\n") {
		t.Errorf("wrote %s", got)
	}
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}
