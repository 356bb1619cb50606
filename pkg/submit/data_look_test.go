package submit

import (
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestDoubts(t *testing.T) {
	var objects []fakestorage.Object
	for _, name := range []string{"set/a", "set-1/b", "weights.h5", "z"} {
		objects = append(objects, fakestorage.Object{Content: []byte("x"), ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "acme", Name: name}})
	}
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", InitialObjects: objects})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Stop)
	t.Setenv("STORAGE_EMULATOR_HOST", fake.URL())
	for _, tt := range []struct{ value, want string }{
		{"x=gs://acme", ""},
		{"x=gs://acme/set", ""},
		{"x=gs://acme/set/", ""},
		{"x=gs://acme/weights.h5", ""},
		{"x=gs://acme/set,fuse", ""},
		{"x=gs://acme/weights.h5,fuse", ""},
		{"/m=gs://acme/new,fuse,rw", ""},
		{"/m=gs://other/new,fuse,rw", "gs://other/new: can't list this bucket"},
		{"x=pvc://claim", ""},
		{"x=hf://o/n", ""},
		{"x=gs://acme/weights.h5/", "gs://acme/weights.h5/: not found; the job fails"},
		{"x=gs://acme/se", "gs://acme/se: not found; the job fails"},
		{"x=gs://acme/nothing,fuse", "gs://acme/nothing: not found; the job fails"},
		{"x=gs://other/set", "gs://other/set: can't list this bucket"},
	} {
		var named, volumes []string
		if named = []string{tt.value}; strings.HasPrefix(tt.value, "/") {
			named, volumes = nil, named
		}
		inputs, err := parseInputs(named, volumes)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(checkSources(t.Context(), []api.Data{inputs[0].Data}), "; ")
		if !strings.HasPrefix(got, tt.want) || got != "" && tt.want == "" {
			t.Errorf("%s: %q, want %q", tt.value, got, tt.want)
		}
	}
}
