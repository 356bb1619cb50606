package google

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// Size is how much is in a bucket.
type Size struct {
	Bucket string `json:"bucket"`
	// Objects and Bytes are nil if they are not known.
	Objects *int   `json:"objects"`
	Bytes   *int64 `json:"bytes"`
	// More says that the bucket has more: only its first objects were counted.
	More bool `json:"more,omitempty"`
	// Unknown is why they are not known: the permission that is missing, or what Cloud Storage says; "" if it has
	// not refused to list them.
	Unknown string `json:"unknown,omitempty"`
	// Exists is false if there is no such bucket.
	Exists bool `json:"exists"`
}

// counted is how many objects of a bucket are counted at most: a page of Cloud Storage has 1,000.
const counted = 50_000

// BucketSize counts the objects of a bucket.
func (p *Project) BucketSize(ctx context.Context, name string) (Size, error) {
	var objects int
	var bytes int64
	for token := ""; ; {
		page, err := p.services.Storage.Objects.List(name).Fields("nextPageToken", "items(size)").PageToken(token).Context(ctx).Do()
		if p.absent(ctx, err) {
			return Size{Bucket: name}, nil
		}
		if err != nil {
			unknown := Size{Bucket: name, Exists: true}
			if gcp.IsStatus(err, http.StatusForbidden) {
				unknown.Unknown = refusal(err)
			}
			return unknown, p.access.Explain(err, p.Names.Project, fmt.Sprintf("listing bucket %s", name))
		}
		objects += len(page.Items)
		for _, o := range page.Items {
			bytes += int64(o.Size)
		}
		if token = page.NextPageToken; token == "" || objects >= counted {
			return Size{Bucket: name, Exists: true, Objects: &objects, Bytes: &bytes, More: token != ""}, nil
		}
	}
}

// refusal returns why objects may not be listed.
func refusal(err error) string {
	const permission = "storage.objects.list"
	text := strings.TrimRight(strings.Join(strings.Fields(gcp.MessageIn(err)), " "), ".")
	if strings.Contains(text, permission) {
		return "needs the permission " + permission
	}
	return cmp.Or(text, "Cloud Storage refuses to list it")
}
