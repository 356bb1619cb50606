//go:build unix

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/decide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/deps"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/image"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/provide"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/resolve"
)

// steps are what this program does when it is started again, so that a process is measured
// that does nothing else.
var steps = map[string]func(ctx context.Context, args []string) error{
	"provide":   provideStep,
	"append":    appendLayer,
	"plan-data": planData,
	"send-data": sendData,
}

// provided is what the step provide reports.
type provided struct {
	Image    string
	Detail   string
	Resolved time.Duration // until it was known which wheels are needed
	All      time.Duration
	Requests int64 // to the registry
	Sent     int64 // in their bodies
}

// provideStep does what run does for the packages of a project, up to the image in the registry.
func provideStep(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("provide", flag.ExitOnError)
	project := f.String("project", "", "directory of the project")
	base := f.String("base", "", "base image")
	repository := f.String("repository", "", "where the image goes")
	memory := f.String("memory", "", "directory for what is remembered")
	report := f.String("report", "", "file for the report")
	bytecode := f.Bool("bytecode", true, "whether Python is looked for")
	limit := f.Int64("limit", 0, "the most bytes to send")
	if err := f.Parse(args); err != nil {
		return err
	}
	began := time.Now()
	plan, err := planOf(*project, api.Images{BaseImage: *base, ImageRepo: *repository, UploadLimit: *limit})
	if err != nil {
		return err
	}
	var done provided
	counted := &sending{}
	p := &provide.Provider{
		Images:   &image.Client{Memory: image.Memory{Dir: *memory}, Transport: counted},
		Resolver: resolve.Resolver{LookPath: func(name string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} }},
		Now:      time.Now,
		Show: provide.Show{Log: io.Discard, Making: func(image.Progress) {}, Step: func(what string) {
			if what == "making the image" {
				done.Resolved = time.Since(began)
			}
		}},
	}
	if *bytecode {
		p.Python = "python3"
	} else if err := os.Setenv("PATH", ""); err != nil {
		return err
	}
	made, err := p.Provide(ctx, plan, "bench")
	if err != nil {
		return err
	}
	done.Image, done.Detail, done.All = made.Image, made.Detail, time.Since(began)
	done.Requests, done.Sent = counted.requests.Load(), counted.sent.Load()
	if plan.Mode != made.Plan.Mode {
		return fmt.Errorf("the image was not made: %s", made.Plan.Why)
	}
	text, err := json.Marshal(done)
	if err != nil {
		return err
	}
	return os.WriteFile(*report, text, 0o644)
}

func planOf(dir string, images api.Images) (decide.Plan, error) {
	wanted, err := deps.Find(deps.Options{Root: dir, EntryDir: dir, Cwd: dir, Home: filepath.Dir(dir)})
	if err != nil {
		return decide.Plan{}, err
	}
	return decide.New(decide.Input{Wanted: wanted, Root: dir, Accelerator: api.Accelerator{Kind: api.CPU}, Images: images, Image: string(decide.Bundled)})
}

// appendLayer does what crane append does: append FILE.tar BASE IMAGE.
func appendLayer(ctx context.Context, args []string) error {
	base, err := crane.Pull(args[1], crane.WithContext(ctx))
	if err != nil {
		return err
	}
	made, err := crane.Append(base, args[0])
	if err != nil {
		return err
	}
	return crane.Push(made, args[2], crane.WithContext(ctx))
}

// sending counts requests and the bytes in them.
type sending struct{ requests, sent atomic.Int64 }

// RoundTrip implements http.RoundTripper.
func (s *sending) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests.Add(1)
	if r.Body != nil && r.Body != http.NoBody {
		r = r.Clone(r.Context())
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, s), r.Body}
	}
	return remote.DefaultTransport.RoundTrip(r)
}

// Write implements io.Writer: it counts.
func (s *sending) Write(p []byte) (int, error) {
	s.sent.Add(int64(len(p)))
	return len(p), nil
}
