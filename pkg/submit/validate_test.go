package submit

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		request api.Request
		err     string
	}{
		"nothing set": {},
		"everything fine": {request: api.Request{
			JobID:       "my-job-1",
			Reservation: "projects/p/reservations/r-1",
			Placement:   api.Placement{ServiceAccount: "trainer", Queue: "team-a", PriorityClass: "high", CPU: "500m", Memory: "16Gi", Image: "us-docker.pkg.dev/p/r/i:v1", Labels: map[string]string{"team": "a", "example.com/cost": ""}, Annotations: map[string]string{"note": "any text\nat all"}},
			Execution:   api.Execution{MaxRuntime: time.Hour},
		}},
		"job id with capitals":      {api.Request{JobID: "MyJob"}, "--job-id: job ID \"MyJob\""},
		"reserved job id":           {api.Request{JobID: "blobs"}, "reserved"},
		"job id too long":           {api.Request{JobID: strings.Repeat("a", 51)}, "--job-id"},
		"name and job id":           {api.Request{JobID: "my-job", Name: "x"}, "--name"},
		"service account":           {api.Request{Placement: api.Placement{ServiceAccount: "a_b"}}, `--service-account "a_b"`},
		"queue":                     {api.Request{Placement: api.Placement{Queue: "Team A"}}, `--queue "Team A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character$`},
		"a name that is too long":   {api.Request{Placement: api.Placement{ServiceAccount: strings.Repeat("a", 254)}}, "must be no more than 253 characters$"},
		"no label of a queue":       {api.Request{Placement: api.Placement{Queue: strings.Repeat("a", 64)}}, `--queue "` + strings.Repeat("a", 64) + `": must be no more than 63 bytes$`},
		"a label of a queue":        {request: api.Request{Placement: api.Placement{Queue: strings.Repeat("a", 63)}}},
		"no label of a class":       {api.Request{ComputeClass: strings.Repeat("a", 64)}, `--compute-class "` + strings.Repeat("a", 64) + `": must be no more than 63 bytes$`},
		"no label of a reservation": {api.Request{Reservation: strings.Repeat("a", 64)}, `--reservation "` + strings.Repeat("a", 64) + `": must be no more than 63 bytes$`},
		"no label of a project":     {api.Request{Reservation: "projects/example.com:p/reservations/r"}, `--reservation "example.com:p": a valid label must be an empty string or consist of alphanumeric characters`},
		"priority class":            {api.Request{Placement: api.Placement{PriorityClass: "-"}}, "--priority-class"},
		"reservation path":          {api.Request{Reservation: "projects/p/r"}, "projects/PROJECT/reservations/NAME"},
		"cpu":                       {api.Request{Placement: api.Placement{CPU: "two"}}, `--cpu "two"`},
		"no cpu at all":             {api.Request{Placement: api.Placement{CPU: "0"}}, "must be positive"},
		"a block of a reservation":  {request: api.Request{Reservation: "projects/p/reservations/r/reservationBlocks/b/reservationSubBlocks/s"}},
		"a block without a name":    {api.Request{Reservation: "projects/p/reservations/r/reservationBlocks/"}, "or projects/PROJECT/reservations/NAME, optionally with /reservationBlocks/BLOCK"},
		"a block that is none":      {api.Request{Reservation: "projects/p/reservations/r/reservationBlocks/B_1"}, `--reservation "B_1"`},
		"disk without a unit":       {api.Request{Placement: api.Placement{Disk: "50"}}, `--disk "50": that is 50 bytes; did you mean 50Gi?`},
		"disk":                      {request: api.Request{Placement: api.Placement{Disk: "50Gi"}}},
		"a class of Autopilot":      {request: api.Request{ComputeClass: "Scale-Out"}},
		"no class of Autopilot":     {api.Request{ComputeClass: "Scale-out"}, "the classes of Autopilot are Accelerator, Balanced, Performance, Scale-Out$"},
		"memory":                    {api.Request{Placement: api.Placement{Memory: "16 GB"}}, `--memory "16 GB"`},
		"memory in GB":              {api.Request{Placement: api.Placement{Memory: "2GB"}}, `--memory "2GB": did you mean 2Gi?`},
		"memory in g":               {api.Request{Placement: api.Placement{Memory: "1.5g"}}, `--memory "1.5g": did you mean 1.5Gi?`},
		"memory without a unit":     {api.Request{Placement: api.Placement{Memory: "8"}}, `--memory "8": that is 8 bytes; did you mean 8Gi?`},
		"memory of nothing much":    {api.Request{Placement: api.Placement{Memory: "900k"}}, `--memory "900k": Python needs at least 16Mi`},
		"memory of millibytes":      {api.Request{Placement: api.Placement{Memory: "512m"}}, `--memory "512m": Python needs at least 16Mi`},
		"the least memory":          {request: api.Request{Placement: api.Placement{Memory: "16Mi"}}},
		"label key":                 {api.Request{Placement: api.Placement{Labels: map[string]string{"a b": "c"}}}, `--label "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character$`},
		"label value":               {api.Request{Placement: api.Placement{Labels: map[string]string{"a": "b c"}}}, `--label a=b c: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character$`},
		"a label of ours":           {api.Request{Placement: api.Placement{Labels: map[string]string{"job-id": "x"}}}, "kinetic sets this key"},
		"a label that --queue sets": {api.Request{Placement: api.Placement{Labels: map[string]string{api.LabelQueue: "team"}}}, "--label kueue.x-k8s.io/queue-name=team: use --queue team instead$"},
		"an annotation of ours":     {api.Request{Placement: api.Placement{Annotations: map[string]string{api.AnnotationStore: "x"}}}, "kinetic sets this key"},
		"annotation that's no text": {api.Request{Placement: api.Placement{Annotations: map[string]string{"a": "\xff"}}}, "UTF-8"},
		"compute class":             {api.Request{ComputeClass: "Any TPU"}, `--compute-class "Any TPU"`},
		"negative runtime":          {api.Request{Execution: api.Execution{MaxRuntime: -1}}, "--max-runtime"},
		"an image mode":             {api.Request{Placement: api.Placement{Image: "bundled"}}, ""},
		"a misspelt image mode":     {api.Request{Placement: api.Placement{Image: "prebuild"}}, `--image prebuild: did you mean "prebuilt"?`},
		"image repository and tag":  {api.Request{Images: api.Images{ImageRepo: "eu.gcr.io/p/env:1"}}, `--image-repo "eu.gcr.io/p/env:1": expected a repository without a tag`},
		"base image repository":     {api.Request{Images: api.Images{BaseImageRepo: "A B"}}, `--base-image-repo "A B"`},
		"base image":                {api.Request{Images: api.Images{BaseImage: "a b"}}, `--base-image "a b"`},
		"two bases":                 {api.Request{Images: api.Images{BaseImage: "a", BaseImageRepo: "b"}}, "use one of them"},
		"nothing of something":      {api.Request{Images: api.Images{NoDeps: true, Extras: []string{"x"}}}, "--no-deps cannot be combined"},
		"image with a blank":        {api.Request{Placement: api.Placement{Image: "a b"}}, `--image "a b": not the name of an image`},
		"image in capitals":         {api.Request{Placement: api.Placement{Image: "FOO:1"}}, `--image "FOO:1": only an image's tag may contain capitals`},
		"image without a tag":       {api.Request{Placement: api.Placement{Image: "foo:"}}, `--image "foo:"`},
		"image of two tags":         {api.Request{Placement: api.Placement{Image: "foo:1:2"}}, `--image "foo:1:2"`},
		"image of a URL":            {api.Request{Placement: api.Placement{Image: "https://r.io/i"}}, `--image "https://r.io/i"`},
		"image of a long digest":    {api.Request{Placement: api.Placement{Image: "foo@sha256:" + strings.Repeat("0", 129)}}, `--image "foo@sha256:`},
		"image of a long tag":       {api.Request{Placement: api.Placement{Image: "foo:" + strings.Repeat("v", 129)}}, `--image "foo:`},
		"image of a short digest":   {api.Request{Placement: api.Placement{Image: "foo@sha256:12"}}, `--image "foo@sha256:12"`},
		"image that is too long":    {api.Request{Placement: api.Placement{Image: strings.Repeat("a", 256)}}, "--image"},
		"a tag in capitals":         {request: api.Request{Placement: api.Placement{Image: "python:3.12-RC"}}},
		"a registry's port":         {request: api.Request{Placement: api.Placement{Image: "localhost:5000/ml/train_a--b.c:v1"}}},
		"a registry's address":      {request: api.Request{Placement: api.Placement{Image: "[::1]:5000/ml/train"}}},
		"a registry in capitals":    {request: api.Request{Placement: api.Placement{Image: "Registry.Example.com/ml/train"}}},
		"a debugger of a set":       {request: api.Request{Placement: api.Placement{Backend: api.BackendLWS}, Execution: api.Execution{Debug: true}}},
		"a debugger of a command":   {api.Request{Invocation: api.Invocation{Command: true}, Execution: api.Execution{Debug: true}}, "--debug cannot be combined with --command: name a Python script as TARGET"},
		"a debugger of a Job":       {request: api.Request{Placement: api.Placement{Backend: api.BackendGKE}, Execution: api.Execution{Debug: true}}},
		"an image by its digest":    {request: api.Request{Placement: api.Placement{Image: "r.io/i:v1@sha256:" + strings.Repeat("0a", 32)}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := validate(tt.request)
			if tt.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error()+"$", tt.err) {
				t.Errorf("error %v, want one with %q", err, tt.err)
			}
		})
	}
}
