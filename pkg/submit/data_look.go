package submit

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/store"
)

// lookFor is how long a submit looks for the buckets of its inputs.
const lookFor = 5 * time.Second

// checkSources looks into the buckets that inputs come from, and returns warnings about those in
// which nothing is found. They are no errors: the job has another account, and may start
// later. Those that don't answer soon are not mentioned.
func checkSources(ctx context.Context, inputs []api.Data) []string {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	doubts := make([]string, len(inputs))
	var wg sync.WaitGroup
	for i, d := range inputs {
		if url := bucketURL(d); url != "" {
			wg.Go(func() { doubts[i] = checkSource(ctx, d, url) })
		}
	}
	wg.Wait()
	return slices.DeleteFunc(doubts, func(text string) bool { return text == "" })
}

// bucketURL returns the URL of what an input has of a bucket, "" if it has nothing. A folder
// to write to need not be there.
func bucketURL(d api.Data) string {
	switch {
	case d.Set != "": // a submit puts it there
		return ""
	case d.Access == api.AccessFUSE && d.Writable:
		return store.BucketScheme + d.Bucket
	case d.Access == api.AccessFUSE:
		return store.BucketScheme + path.Join(d.Bucket, d.Folder, d.File)
	case d.Access == api.AccessCopy && strings.HasPrefix(d.URL, store.BucketScheme):
		return d.URL
	}
	return ""
}

func checkSource(ctx context.Context, d api.Data, url string) string {
	bucket, name, _ := strings.Cut(strings.TrimPrefix(url, store.BucketScheme), "/")
	s, err := store.Open(store.BucketScheme + bucket)
	if err != nil {
		return fmt.Sprintf("%s: %v", d.Source, err)
	}
	defer func() { _ = s.Close() }() // it was only read
	notFound := d.Source + ": not found; the job fails unless it exists when the job starts"
	for o, err := range s.List(ctx, name, "") {
		switch {
		case ctx.Err() != nil:
			return ""
		case err != nil:
			return fmt.Sprintf("%s: can't list this bucket (no access, or it doesn't exist); the job's service account needs read access", d.Source)
		case name == "" || o.Name == name || strings.HasSuffix(name, "/") || strings.HasPrefix(o.Name, name+"/"):
			return ""
		case o.Name > name+"/": // names are sorted
			return notFound
		}
	}
	if ctx.Err() != nil {
		return ""
	}
	return notFound
}
