package run

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/kube"
)

const frameStat byte = 4

// While a call is uploaded, its host hears of it often enough, and then gets it on the same connection.
func TestLongUploadForAHost(t *testing.T) {
	for name, tt := range map[string]struct {
		upload time.Duration
		asked  int
	}{"at once": {0, 0}, "some seconds": {10 * time.Second, 1}, "minutes": {5*time.Minute + time.Second, 15}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []byte
				conn := connectTo(t, func(h *fakeHost) {
					for len(got) == 0 || got[len(got)-1] == frameStat {
						got = append(got, h.receive())
						h.say("started")
					}
				})
				r := warmRun{options: &options{}}
				held := newLease(t.Context(), conn)
				<-time.After(tt.upload)
				if err := r.give(t.Context(), kube.WarmHost{}, held, nil); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if want := append(slices.Repeat([]byte{frameStat}, tt.asked), frameCall); !slices.Equal(got, want) {
					t.Errorf("the host got frames of the kinds %v, want %v", got, want)
				}
			})
		})
	}
}

// A host that has ended during the upload, of which it has got nothing, does not run the call: another one can.
func TestHostThatEndsDuringTheUpload(t *testing.T) {
	for _, upload := range []time.Duration{10 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			conn := connectTo(t, func(h *fakeHost) { _ = h.Close() })
			r := warmRun{options: &options{}}
			held := newLease(t.Context(), conn)
			<-time.After(upload)
			err := r.give(t.Context(), kube.WarmHost{JobSummary: api.JobSummary{ID: "cpu-warm-1"}}, held, nil)
			if !declined(err) || errors.Is(err, api.ErrMayRun) || !strings.HasPrefix(err.Error(), "warm host cpu-warm-1 is no longer free: ") {
				t.Errorf("after %s: %v", upload, err)
			}
		})
	}
}

// A host that is lost after the call was sent may have begun it.
func TestHostThatEndsWithTheCall(t *testing.T) {
	conn := connectTo(t, func(h *fakeHost) { h.receive(); _ = h.Close() })
	r := warmRun{options: &options{}}
	if err := r.give(t.Context(), kube.WarmHost{}, newLease(t.Context(), conn), nil); !errors.Is(err, api.ErrMayRun) || declined(err) {
		t.Error(err)
	}
}
