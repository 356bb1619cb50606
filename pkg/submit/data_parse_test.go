package submit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestParseInputs(t *testing.T) {
	copied := func(name, source string) api.Data {
		return api.Data{Name: name, Source: source, Access: api.AccessCopy, URL: source}
	}
	for _, test := range []struct {
		flag, value string
		want        input
	}{
		{"data", "x=./dir", input{Data: api.Data{Name: "x", Source: "./dir", Access: api.AccessCopy}, Local: "./dir"}},
		{"data", "x=file:///dir", input{Data: api.Data{Name: "x", Source: "file:///dir", Access: api.AccessCopy}, Local: "/dir"}},
		{"data", "x=a,b", input{Data: api.Data{Name: "x", Source: "a,b", Access: api.AccessCopy}, Local: "a,b"}},
		{"data", `x=a\,fuse`, input{Data: api.Data{Name: "x", Source: "a,fuse", Access: api.AccessCopy}, Local: "a,fuse"}},
		{"data", "x=a=b", input{Data: api.Data{Name: "x", Source: "a=b", Access: api.AccessCopy}, Local: "a=b"}},
		{"data", "x=gs://b", input{Data: copied("x", "gs://b")}},
		{"data", "x=gs://b/f/", input{Data: copied("x", "gs://b/f/")}},
		{"data", "x=gs://b/a,b", input{Data: copied("x", "gs://b/a,b")}},
		{"data", "x=gs://b/f/g,fuse", input{Data: api.Data{Name: "x", Source: "gs://b/f/g", Access: api.AccessFUSE, Bucket: "b", Folder: "f", File: "g", Path: "/kinetic-data/x"}}},
		{"data", "x=gs://b/g,fuse", input{Data: api.Data{Name: "x", Source: "gs://b/g", Access: api.AccessFUSE, Bucket: "b", File: "g", Path: "/kinetic-data/x"}}},
		{"data", "x=gs://b/f/g\\,h,fuse", input{Data: api.Data{Name: "x", Source: "gs://b/f/g,h", Access: api.AccessFUSE, Bucket: "b", Folder: "f", File: "g,h", Path: "/kinetic-data/x"}}},
		{"data", "x=gs://b/f/g/,fuse", input{Data: api.Data{Name: "x", Source: "gs://b/f/g/", Access: api.AccessFUSE, Bucket: "b", Folder: "f/g", Path: "/kinetic-data/x"}}},
		{"data", "x=gs://b,fuse,cache=20Gi", input{Data: api.Data{Name: "x", Source: "gs://b", Access: api.AccessFUSE, Bucket: "b", Path: "/kinetic-data/x", Cache: "20Gi"}}},
		{"data", "x=./dir,fuse,cache=20Gi", input{Data: api.Data{Name: "x", Source: "./dir", Access: api.AccessFUSE, Path: "/kinetic-data/x", Cache: "20Gi"}, Local: "./dir"}},
		{"volume", "/m=./dir,fuse", input{Data: api.Data{Mount: "/m", Source: "./dir", Access: api.AccessFUSE, Path: "/m"}, Local: "./dir"}},
		{"data", "x=hf://o/n?split=train", input{Data: copied("x", "hf://o/n?split=train")}},
		{"data", "x=pvc://c/f", input{Data: api.Data{Name: "x", Source: "pvc://c/f", Access: api.AccessClaim, Claim: "c", File: "f", Path: "/kinetic-data/x"}}},
		{"volume", "/m=gs://b/f/g", input{Data: api.Data{Mount: "/m", Source: "gs://b/f/g", Access: api.AccessCopy, URL: "gs://b/f/g"}}},
		{"volume", "/m=gs://b/f/g,fuse,rw", input{Data: api.Data{Mount: "/m", Source: "gs://b/f/g", Access: api.AccessFUSE, Bucket: "b", Folder: "f/g", Path: "/m", Writable: true}}},
		{"volume", "/m=pvc://c,rw", input{Data: api.Data{Mount: "/m", Source: "pvc://c", Access: api.AccessClaim, Claim: "c", Path: "/m", Writable: true}}},
	} {
		var named, volumes []string
		if test.flag == "data" {
			named = []string{test.value}
		} else {
			volumes = []string{test.value}
		}
		test.want.Flag = "--" + test.flag + " " + test.value
		got, err := parseInputs(named, volumes)
		if err != nil {
			t.Errorf("%s: %v", test.want.Flag, err)
			continue
		}
		if diff := cmp.Diff([]input{test.want}, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.want.Flag, diff)
		}
	}
}

func TestParseInputMistakes(t *testing.T) {
	for _, test := range []struct {
		named, volumes, want string // lists are separated by spaces
	}{
		{"x", "", "expected NAME=SRC"},
		{"x=", "", "expected NAME=SRC"},
		{"1x=a", "", `"1x" is not a name`},
		{"a-b=a", "", `"a-b" is not a name`},
		{"x=gs://", "", "names no bucket"},
		{"x=gs:///f", "", "names no bucket"},
		{"x=gs://b//f", "", "empty folder name"},
		{"x=gs://b/a,b/c,fuse", "", "has a comma"},
		{"x=gs://b/../f,fuse", "", "called . or .."},
		{"x=gs://b/./f,fuse", "", "called . or .."},
		{"x=gs://b/f,fuze", "", `"fuze" is not an option, did you mean "fuse"? if it belongs to the name, write \,fuze`},
		{"x=s3://b/f", "", "gcloud storage cp -r s3://b/f"},
		{"x=https://h/f.zip", "", "download the file"},
		{"x=ftp://h/f", "", "ftp:// is not supported"},
		{"x=hf://", "", "expected hf://OWNER/NAME"},
		{"x=hf://o/n?name=a", "", `"name" is not known: expected split, config_name, revision`},
		{"x=hf://o/n?split=a&split=b", "", "split is given 2 times: give it once"},
		{"x=hf://o/n,fuse", "", "omit fuse"},
		{"x=pvc://A", "", "not the name of a PersistentVolumeClaim"},
		{"x=pvc://c/../d", "", "invalid folder: use d"},
		{"x=pvc://c,fuse", "", "omit fuse"},
		{"x=gs://b,rw", "", "rw requires fuse"},
		{"x=gs://b,fuse,rw", "", "rw is only for --volume"},
		{"x=gs://b,fuse,ro", "", "omit ro"},
		{"x=gs://b,cache=1Gi", "", "add fuse"},
		{"x=gs://b,fuse,cache=big", "", "expected a size"},
		{"x=gs://b,fuse,cache=0", "", "expected a size"},
		{"x=gs://b,fuse,cache=-5", "", "expected a size"},
		{"x=a x=b", "", "--data: x is given twice"},
		{"x=a X=b", "", "KINETIC_DATA_X: rename one"},
		{"", "m=a", "not an absolute path"},
		{"", "/m/=a", "should be written /m"},
		{"", "/=a", "the job needs /app for itself"},
		{"", "/app=a", "can't be a mount"},
		{"", "/etc=a", "hide the image's own files"},
		{"", "/usr/lib=a", "such as /mnt/data"},
		{"", "/kinetic/data=a", "the job needs /kinetic for itself"},
		{"", "/dev/shm=a", "can't be a mount"},
		{"", "/a:b=a", "colon"},
		{"", "/m=a,rw", "KINETIC_OUTPUT_DIR"},
		{"", "/m=a,fuse,rw", "KINETIC_OUTPUT_DIR"},
		{"", "/m=a /m=b", "given twice"},
		{"", "/m=a /m/n=b", "below the other"},
		{"", "/m/n=a /m=b", "below the other"},
	} {
		_, err := parseInputs(strings.Fields(test.named), strings.Fields(test.volumes))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("--data %s --volume %s: error %v, want %q in it", test.named, test.volumes, err, test.want)
		}
	}
}

func TestNeighbouringMounts(t *testing.T) {
	if _, err := parseInputs([]string{"x=a", "y=a"}, []string{"/m=a", "/mn=b"}); err != nil {
		t.Error(err)
	}
}

func FuzzParseInputs(f *testing.F) {
	for _, seed := range []string{"x=a,fuse", "x=gs://b/f,fuse,cache=1Gi", `x=a\,b`, "x=hf://o/n?split=a", "x=pvc://c/d", "=", "x=,fuse"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		inputs, err := parseInputs([]string{value}, nil)
		if err != nil {
			return
		}
		d := inputs[0].Data
		switch {
		case d.Source == "":
			t.Error("no source")
		case d.Access == api.AccessFUSE && d.Bucket == "" && inputs[0].Local == "":
			t.Errorf("nothing to mount: %+v", d)
		case strings.Contains("/"+d.Folder+"/", "/../") && d.Access == api.AccessClaim:
			t.Errorf("the folder leaves the claim: %+v", d)
		}
	})
}
