package e2e

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/rogpeppe/go-internal/testscript"
)

// registryProxy is a proxy between a script and the cluster's registry for images, which nodes
// don't use.
type registryProxy struct {
	log      requestLog
	backend  *url.URL
	pass     http.Handler
	readOnly atomic.Bool
}

type registryKey struct{}

// registryWord implements the scripts' command registry:
//
//	registry proxied           from here on the script sends images through a proxy
//	registry log FILE          writes the requests since the last time
//	registry refuses           it refuses whatever would change it
//	registry accepts           it does not any more
//	registry copy FROM TO      puts a copy of an image, with another digest, under another name
//	registry deletes           it forgets the images of environments
//	registry moves IMAGE       it gives their names to a copy of another image
func registryWord(ts *testscript.TestScript, neg bool, args []string) {
	p := ts.Value(registryKey{}).(*registryProxy)
	switch {
	case neg || len(args) == 0:
	case args[0] == "proxied" && len(args) == 1:
		repository := ts.Getenv("KINETIC_IMAGE_REPO")
		host, path, _ := strings.Cut(repository, "/")
		p.backend = &url.URL{Scheme: "http", Host: host}
		p.pass = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(p.backend) }, ErrorLog: log.New(io.Discard, "", 0)}
		front, err := serve(ts, p)
		ts.Check(err)
		ts.Setenv("KINETIC_IMAGE_REPO", strings.TrimPrefix(front, "http://")+"/"+path)
		return
	case args[0] == "log" && len(args) == 2:
		ts.Check(p.log.write(ts.MkAbs(args[1])))
		return
	case (args[0] == "refuses" || args[0] == "accepts") && len(args) == 1:
		p.readOnly.Store(args[0] == "refuses")
		return
	case args[0] == "copy" && len(args) == 3:
		ts.Check(copyImage(args[1], args[2]))
		return
	case args[0] == "deletes" && len(args) == 1:
		ts.Check(environments(ts.Getenv("KINETIC_IMAGE_REPO"), deleteImage))
		return
	case args[0] == "moves" && len(args) == 2:
		ts.Check(environments(ts.Getenv("KINETIC_IMAGE_REPO"), func(tag name.Tag) error { return copyImage(args[1], tag.Name()) }))
		return
	}
	ts.Fatalf("usage: registry proxied, refuses, accepts, deletes, log FILE, copy FROM TO, or moves IMAGE")
}

func (p *registryProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.log.add(r)
	if p.readOnly.Load() && r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"errors": [{"code": "DENIED", "message": "you may only read"}]}`)
		return
	}
	p.pass.ServeHTTP(w, r)
}

// deleteImage deletes a tag, and what it stands for.
func deleteImage(tag name.Tag) error {
	image, err := remote.Head(tag)
	if err != nil {
		return err
	}
	_ = remote.Delete(tag.Digest(image.Digest.String())) // it may have been deleted with another tag
	return remote.Delete(tag)
}

func copyImage(from, to string) error {
	source, err := name.ParseReference(from)
	if err != nil {
		return err
	}
	target, err := name.ParseReference(to)
	if err != nil {
		return err
	}
	image, err := remote.Image(source)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.Author = from + " " + to
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	return remote.Write(target, image)
}

// environments calls a function for each environment in a repository.
func environments(repository string, do func(name.Tag) error) error {
	repo, err := name.NewRepository(repository)
	if err != nil {
		return err
	}
	tags, err := remote.List(repo)
	if err != nil {
		return err
	}
	for _, tag := range tags {
		if strings.HasPrefix(tag, "e-") || strings.HasPrefix(tag, "r-") {
			err = errors.Join(err, do(repo.Tag(tag)))
		}
	}
	return err
}

// serve serves on a port of the address at which pods reach this machine, until the script ends.
func serve(ts *testscript.TestScript, h http.Handler) (address string, err error) {
	store, err := url.Parse(os.Getenv("STORAGE_EMULATOR_HOST"))
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(store.Hostname(), "0"))
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	ts.Defer(func() { _ = server.Close() })
	return "http://" + listener.Addr().String(), nil
}

// requestLog notes requests to a server.
type requestLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *requestLog) add(r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r.Method+" "+r.URL.Path)
}

// write writes the requests since the last time to a file, one per line.
func (l *requestLog) write(file string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.Join(append(l.lines, ""), "\n")
	l.lines = nil
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600))
}
