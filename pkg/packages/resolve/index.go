package resolve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
	"github.com/kubectl-kinetic/kinetic/pkg/packages/requirement"
)

// IndexFile is a file of a project.
type IndexFile struct {
	Name   string
	URL    string // absolute, without credentials
	SHA256 string // in hexadecimal, "" if the index does not say it
	Size   int64  // in bytes, 0 if the index does not say it
	Yanked bool
}

// ErrNotFound says that an index does not have a project.
var ErrNotFound = errors.New("it has no such project")

// refusedError says that an index gives no access. PyTorch's index answers that for what it does not have.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// maxPage is the size of the largest page that is read. Projects with thousands of files have
// pages of some MB.
const maxPage = 64 << 20

// The media types of pages, the first in JSON.
const (
	typeJSON = "application/vnd.pypi.simple.v1+json"
	typeHTML = "application/vnd.pypi.simple.v1+html"
	accepted = typeJSON + ", " + typeHTML + ";q=0.2, text/html;q=0.1"
)

// attempts limits how often an index is asked for a project.
const attempts = 4

// Files returns the files of a project. base is the address of the index, with the credentials that it gets. It is asked
// again if it fails in a way that may pass. The client makes the requests, nil means http.DefaultClient.
func Files(ctx context.Context, client *http.Client, base, project string) (files []IndexFile, err error) {
	var wait backoff.Timer
	err = wait.Attempts(ctx, attempts, backoff.IsPassing, func() error {
		files, err = filesOf(ctx, client, base, project)
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("asking the index %s for %s: %w", Shown(base), project, err)
	}
	return files, err
}

// passing marks an error that may not happen again. After a timeout, the user has waited enough.
func passing(err error) error {
	var late interface{ Timeout() bool }
	if err == nil || errors.As(err, &late) && late.Timeout() {
		return err
	}
	return backoff.Passing(err)
}

func filesOf(ctx context.Context, client *http.Client, base, project string) ([]IndexFile, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" && u.Scheme != "file" {
		return nil, errors.New("its address is not a URL")
	}
	login := u.User
	u.User = nil
	u = u.JoinPath(requirement.Normalize(project), "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accepted)
	// This resolver has no other credentials: no environment, home or token.
	do := Resolver{HTTP: client, Environ: []string{}}.clientFor(Sources{Indexes: []Source{{url: u, login: login}}}).Do
	if u.Scheme == "file" {
		do = open
	}
	answer, err := do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, passing(fmt.Errorf("%w: check the network, and the address of the index", withoutURL(err)))
	}
	defer answer.Body.Close()
	if err := checkAnswer(answer, login != nil); err != nil {
		return nil, err
	}
	read := readHTML
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == typeJSON {
		read = readJSON
	}
	files, err := read(&limited{r: answer.Body, left: maxPage, full: errTooLarge}, answer.Request.URL)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it was cut off
		err = passing(err)
	}
	return files, err
}

// checkAnswer returns an error if the index refuses to answer.
func checkAnswer(answer *http.Response, hadLogin bool) error {
	switch {
	case answer.StatusCode == http.StatusOK:
		return nil
	case answer.StatusCode == http.StatusNotFound:
		return ErrNotFound
	case answer.StatusCode == http.StatusUnauthorized && !hadLogin:
		return &refusedError{"it requires credentials: add them to ~/.netrc, or to the URL with a variable, such as https://${USER}:${PASSWORD}@HOST; keyrings are not used"}
	case answer.StatusCode == http.StatusUnauthorized:
		return errors.New("it does not accept the credentials")
	case answer.StatusCode == http.StatusForbidden:
		return &refusedError{"it refuses access: 403 Forbidden"}
	}
	return passingStatus(answer)
}

// withoutURL returns the error of a client without the URL that it repeats.
func withoutURL(err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// passingStatus returns the error about an answer, which may be another one soon.
func passingStatus(answer *http.Response) error {
	err := fmt.Errorf("it answers %s", answer.Status)
	if code := answer.StatusCode; code == http.StatusTooManyRequests || code >= http.StatusInternalServerError {
		return passing(err)
	}
	return err
}

// errTooLarge says that a page is larger than maxPage.
var errTooLarge = errors.New("its page is larger than 64 MiB")

// limited is a reader that fails with full after some bytes.
type limited struct {
	r    io.Reader
	left int64
	full error
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n, l.full
	}
	return n, err
}

// page is a page in JSON (PEP 691).
type page struct {
	Files []struct {
		Filename string
		URL      string
		Hashes   map[string]string
		Size     int64
		Yanked   any
	}
}

func readJSON(r io.Reader, at *url.URL) ([]IndexFile, error) {
	var p page
	if err := json.NewDecoder(r).Decode(&p); err != nil {
		return nil, fmt.Errorf("reading its page: %w", err)
	}
	files := make([]IndexFile, 0, len(p.Files))
	for _, f := range p.Files {
		u, err := at.Parse(f.URL)
		if err != nil {
			continue
		}
		u.User, u.Fragment = nil, ""
		files = append(files, IndexFile{Name: f.Filename, URL: u.String(), SHA256: f.Hashes["sha256"], Size: f.Size,
			Yanked: f.Yanked != nil && f.Yanked != false})
	}
	return files, nil
}

// readHTML reads a page of links, whose fragments are hashes (PEP 503).
func readHTML(r io.Reader, at *url.URL) ([]IndexFile, error) {
	var files []IndexFile
	for z := html.NewTokenizer(r); ; {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("reading its page: %w", err)
			}
			return files, nil
		case html.StartTagToken:
			token := z.Token()
			if token.Data == "base" {
				href, _ := attribute(token, "href")
				if u, err := at.Parse(href); err == nil {
					at = u
				}
			}
			if f, ok := link(token, at); ok {
				files = append(files, f)
			}
		}
	}
}

func link(token html.Token, at *url.URL) (IndexFile, bool) {
	if token.Data != "a" {
		return IndexFile{}, false
	}
	href, _ := attribute(token, "href")
	u, err := at.Parse(href)
	if href == "" || err != nil || u.Path == "" {
		return IndexFile{}, false
	}
	f := IndexFile{Name: path.Base(u.Path)}
	if hash, ok := strings.CutPrefix(u.Fragment, "sha256="); ok {
		f.SHA256 = hash
	}
	_, f.Yanked = attribute(token, "data-yanked")
	u.User, u.Fragment = nil, ""
	f.URL = u.String()
	return f, true
}

func attribute(token html.Token, name string) (value string, found bool) {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// Shown returns the address of an index without its credentials.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not a URL)"
	}
	u.User = nil
	return u.String()
}
