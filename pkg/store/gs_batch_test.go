package store

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

// A batch that is never answered as a whole is given up: each blob is asked about by itself then.
func TestBatchThatStalls(t *testing.T) {
	for name, begin := range map[string]func(http.ResponseWriter){
		"no answer": func(http.ResponseWriter) {},
		"half an answer": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "multipart/mixed; boundary=b")
			_, _ = io.WriteString(w, "--b\r\n")
			_ = http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // the test's own, which must not be needed
			defer cancel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				begin(w)
				<-r.Context().Done()
			}))
			t.Cleanup(server.Close)
			t.Setenv(api.EnvStorageEmulator, server.URL)
			s := &gsStore{bucket: "acme-jobs", batchWithin: 50 * time.Millisecond}
			blobs := make([]api.IndexBlob, fewBlobs+1)
			for i := range blobs {
				blobs[i] = api.IndexBlob{SHA256: strings.Repeat(string(rune('a'+i)), 64), Size: 1}
			}
			if found := s.HasBlobs(ctx, blobs); len(found) > 0 || ctx.Err() != nil {
				t.Errorf("found %v, %v", found, ctx.Err())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
