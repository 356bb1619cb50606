package gcptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/storage/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/google/gcp"
)

// bucket is a bucket and its objects, in the order of their names.
type bucket struct {
	*storage.Bucket
	objects []*storage.Object
	// lifecycle is what was set as text, nil if it is that of Bucket.
	lifecycle json.RawMessage
}

func (b *bucket) answer() (any, error) {
	if b.lifecycle == nil {
		return b.Bucket, nil
	}
	text, err := json.Marshal(b.Bucket)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	err = json.Unmarshal(text, &fields)
	fields["lifecycle"] = b.lifecycle
	return fields, err
}

const bucketsPath = "storage/v1/b"

// storageService is the part of Cloud Storage that is about buckets, and enough of objects to list
// and delete them.
func (s *Server) storageService() *service {
	const path = bucketsPath + "/{bucket}"
	return &service{name: gcp.Storage, base: "/storage/v1/", routes: []route{
		{http.MethodPost, bucketsPath, "storage.buckets.create", s.createBucket},
		{http.MethodGet, path, "storage.buckets.get", with(s.bucket, func(_ *request, b *bucket) (any, error) { return b.answer() })},
		{http.MethodPatch, path, "storage.buckets.update", with(s.bucket, s.updateBucket)},
		{http.MethodDelete, path, "storage.buckets.delete", with(s.bucket, s.deleteBucket)},
		{http.MethodGet, path + "/iam", "storage.buckets.getIamPolicy", with(s.bucket, s.getBucketPolicy)},
		{http.MethodPut, path + "/iam", "storage.buckets.setIamPolicy", with(s.bucket, s.setBucketPolicy)},
		{http.MethodGet, path + "/iam/testPermissions", "", with(s.bucket, s.testPermissions)},
		{http.MethodGet, path + "/o", "storage.objects.list", with(s.bucket, s.listObjects)},
		{http.MethodDelete, path + "/o/{object...}", "storage.objects.delete", with(s.bucket, s.deleteObject)},
	}}
}

// AddBucket adds a bucket of a project.
func (s *Server) AddBucket(project string, b *storage.Bucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addBucket(project, b)
}

func (s *Server) addBucket(project string, b *storage.Bucket) {
	b.Metageneration = 1
	if p := s.projects[project]; p != nil {
		b.ProjectNumber = uint64(p.Number)
	}
	s.cloud.buckets[b.Name] = &bucket{Bucket: b}
}

// SetLifecycle sets the lifecycle of a bucket as JSON, which may hold conditions that the types lack.
func (s *Server) SetLifecycle(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cloud.buckets[name].lifecycle = json.RawMessage(text)
}

// Bucket returns a bucket, nil if there is none. The caller must not change it.
func (s *Server) Bucket(name string) *storage.Bucket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.cloud.buckets[name]; b != nil {
		return b.Bucket
	}
	return nil
}

// AddObject adds an object of some size to a bucket.
func (s *Server) AddObject(name, object string, size uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.cloud.buckets[name]
	b.objects = append(b.objects, &storage.Object{Bucket: name, Name: object, Size: size, Generation: int64(len(b.objects) + 1)})
	slices.SortFunc(b.objects, func(x, y *storage.Object) int { return strings.Compare(x.Name, y.Name) })
}

func (s *Server) bucket(r *request) (*bucket, error) {
	if b := s.cloud.buckets[r.values["bucket"]]; b != nil {
		return b, nil
	}
	return nil, notFound("The specified bucket does not exist.")
}

func (s *Server) createBucket(r *request) (any, error) {
	project := r.query.Get("project")
	if s.projects[project] == nil {
		return nil, badRequest("Unknown project id: %s", project)
	}
	if !s.projects[project].APIs[gcp.Storage.API()] {
		return nil, disabled(gcp.Storage.API(), s.projects[project])
	}
	var wanted storage.Bucket
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	switch b := s.cloud.buckets[wanted.Name]; {
	case b != nil && b.ProjectNumber != uint64(s.projects[project].Number):
		return nil, exists("The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.")
	case b != nil:
		return nil, exists("Your previous request to create the named bucket succeeded and you already own it.")
	}
	wanted.Location = strings.ToUpper(wanted.Location)
	s.addBucket(project, &wanted)
	return &wanted, nil
}

func (s *Server) updateBucket(r *request, b *bucket) (any, error) {
	if want := r.query.Get("ifMetagenerationMatch"); want != "" && want != fmt.Sprint(b.Metageneration) {
		return nil, &Error{Code: http.StatusPreconditionFailed, Reason: "conditionNotMet", Message: "At least one of the pre-conditions you specified did not hold."}
	}
	var changed storage.Bucket
	if err := recode(b.Bucket, &changed); err != nil { // what it points to may be another bucket's too
		return nil, err
	}
	changed.Lifecycle = nil // a new one replaces it as a whole
	if err := json.Unmarshal(r.body, &changed); err != nil {
		return nil, badRequest("%v", err)
	}
	if changed.Lifecycle == nil {
		changed.Lifecycle = b.Lifecycle
	} else {
		b.lifecycle = nil
	}
	changed.Metageneration++
	b.Bucket = &changed
	return b.answer()
}

func (s *Server) deleteBucket(_ *request, b *bucket) (any, error) {
	if len(b.objects) > 0 {
		return nil, exists("The bucket you tried to delete is not empty.")
	}
	delete(s.cloud.buckets, b.Name)
	delete(s.cloud.policies, "b/"+b.Name)
	return nil, nil
}

func (s *Server) getBucketPolicy(_ *request, b *bucket) (any, error) {
	return s.policy("b/" + b.Name), nil
}

func (s *Server) setBucketPolicy(r *request, b *bucket) (any, error) {
	var wanted Policy
	if err := r.read(&wanted); err != nil {
		return nil, err
	}
	return s.setPolicy("b/"+b.Name, &wanted, http.StatusPreconditionFailed)
}

// testPermissions answers which of some permissions the account has on a bucket: all that were not
// denied.
func (s *Server) testPermissions(r *request, _ *bucket) (any, error) {
	asked := slices.Clone(r.query["permissions"])
	return &storage.TestIamPermissionsResponse{Kind: "storage#testIamPermissionsResponse",
		Permissions: slices.DeleteFunc(asked, func(p string) bool { return s.denied[p] })}, nil
}

func (s *Server) listObjects(r *request, b *bucket) (any, error) {
	items, next := page(r, b.objects)
	return &storage.Objects{Items: items, NextPageToken: next}, nil
}

func (s *Server) deleteObject(r *request, b *bucket) (any, error) {
	i := slices.IndexFunc(b.objects, func(o *storage.Object) bool {
		generation := r.query.Get("generation")
		return o.Name == r.values["object"] && (generation == "" || generation == fmt.Sprint(o.Generation))
	})
	if i < 0 {
		return nil, notFound("No such object: %s/%s", b.Name, r.values["object"])
	}
	b.objects = slices.Delete(b.objects, i, i+1)
	return nil, nil
}
