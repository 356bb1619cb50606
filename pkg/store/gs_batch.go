package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/internal/parallel"
)

const (
	// batchSize is how many calls Cloud Storage accepts in one request.
	batchSize = 100
	// fewBlobs are looked up one by one, which is as fast.
	fewBlobs = 3
)

// HasBlobs looks up many blobs in one request, without retries. If that fails, PutBlob
// looks them up one by one, and explains errors.
func (s *gsStore) HasBlobs(ctx context.Context, blobs []api.IndexBlob) map[string]bool {
	if len(blobs) <= fewBlobs {
		return nil
	}
	client, err := s.connect(ctx)
	if err != nil {
		return nil
	}
	var mu sync.Mutex
	all := map[string]bool{}
	parallel.Each(Parallel, slices.Collect(slices.Chunk(blobs, batchSize)), func(_ int, batch []api.IndexBlob) {
		some, _ := s.askBatch(ctx, client, batch)
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(all, some)
	})
	return all // without the blobs of batches that failed
}

func (s *gsStore) HasBlob(ctx context.Context, blob api.IndexBlob) bool {
	client, err := s.connect(ctx)
	if err != nil {
		return false
	}
	found, err := s.askBatch(ctx, client, []api.IndexBlob{blob})
	return err == nil && found[blob.SHA256]
}

// askBatch sends one request about blobs, and returns those that exist, have the right
// size and are young. It gives up after batchWithin.
func (s *gsStore) askBatch(ctx context.Context, client *gsClient, blobs []api.IndexBlob) (map[string]bool, error) {
	var body bytes.Buffer
	calls := multipart.NewWriter(&body)
	asked := map[string]api.IndexBlob{}
	for i, b := range blobs {
		name := s.prefix + Blob(b.SHA256)
		asked[name] = b
		call, err := calls.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/http"}, "Content-Id": {fmt.Sprintf("<%d>", i)}})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(call, "GET /storage/v1/b/%s/o/%s?fields=name,size,timeCreated HTTP/1.1\r\n\r\n", s.bucket, url.PathEscape(name))
	}
	if err := calls.Close(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.batchWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, storageURL()+"/batch/storage/v1", &body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "multipart/mixed; boundary="+calls.Boundary())
	answer, err := client.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	found := map[string]bool{}
	return found, eachAnswer(answer, func(o batchedObject) {
		b, ours := asked[o.Name]
		if ours && o.Size == b.Size && client.transport.ServerTime(time.Now()).Sub(o.Created) < renewAfter() {
			found[b.SHA256] = true
		}
	})
}

// batchedObject holds the fields of an object that a batch requests.
type batchedObject struct {
	Name    string    `json:"name"`
	Size    int64     `json:"size,string"`
	Created time.Time `json:"timeCreated"`
}

func eachAnswer(answer *http.Response, do func(batchedObject)) error {
	_, params, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered the batch with %s", answer.Status)
	}
	parts := multipart.NewReader(answer.Body, params["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		one, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			return err
		}
		var object batchedObject
		// An answer without an object, such as an error's text, means that the blob isn't
		// known.
		err = errors.Join(json.NewDecoder(one.Body).Decode(&object), one.Body.Close())
		if err == nil && one.StatusCode == http.StatusOK {
			do(object)
		}
	}
}

func storageURL() string {
	emulator := os.Getenv(api.EnvStorageEmulator)
	switch {
	case emulator == "":
		return "https://storage.googleapis.com"
	case !strings.Contains(emulator, "://"):
		return "http://" + emulator
	}
	return strings.TrimSuffix(emulator, "/")
}
