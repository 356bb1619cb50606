package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/platform"
)

// Names of the parts of the file.
const (
	currentKey  = "current"
	profilesKey = "profiles"
)

// ProfileDraft is a profiles file that is being changed.
type ProfileDraft struct {
	ProfileFile

	// text and profilesText are the whole file and its profiles as they were read: what is unknown
	// here stays in them.
	text, profilesText map[string]any
}

// ChangeProfiles reads the profiles, lets edit change them, and writes the file unless edit fails or changes
// nothing. Nobody else who uses it changes the file meanwhile, and readers see the old file or the new
// one, never a part. What is unknown here, such as fields of another version, stays as it is.
// It waits for others for a few seconds.
func ChangeProfiles(ctx context.Context, env func(string) string, edit func(*ProfileDraft) error) error {
	path := pathOf(env)
	if path == "" {
		return errors.New("there is no place for profiles, because neither KINETIC_PROFILES_FILE nor HOME is set: set one of them")
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // else the new file would replace the link
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("writing the profiles: %w", err)
	}
	release, err := lock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("writing the profiles: %w", err)
	}
	defer release()
	draft, err := newDraft(path)
	if err != nil {
		return err
	}
	before, err := draft.encode()
	if err != nil {
		return err
	}
	if err := edit(draft); err != nil {
		return err
	}
	after, err := draft.encode()
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	if err := replace(path, after); err != nil {
		return fmt.Errorf("writing the profiles: %w", err)
	}
	return nil
}

func newDraft(path string) (*ProfileDraft, error) {
	file, data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	d := &ProfileDraft{ProfileFile: file}
	if data != nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber() // numbers keep their digits
		if err := decoder.Decode(&d.text); err != nil {
			return nil, fmt.Errorf("reading the profiles: %s: %w", path, err)
		}
	}
	d.profilesText, _ = d.text[profilesKey].(map[string]any) // null or missing: none
	if d.profilesText == nil {
		d.profilesText = map[string]any{}
	}
	return d, nil
}

// Put adds a profile, or replaces the one of that name. The first profile of the file becomes
// current.
func (d *ProfileDraft) Put(p Profile) error {
	if err := p.check(); err != nil {
		return err
	}
	old, _ := d.profilesText[p.Name].(map[string]any)
	text := map[string]any{}
	maps.Copy(text, old)
	for _, f := range fields() {
		switch value := *f.of(&p); {
		case value != "":
			text[f.name] = value
		case f.required:
			text[f.name] = unknown
		default:
			delete(text, f.name)
		}
	}
	first := len(d.profiles) == 0
	d.profilesText[p.Name], d.profiles[p.Name] = text, p
	if first {
		d.Current = p.Name
	}
	return nil
}

// Remove removes a profile. If it is the current one, no profile is current afterwards.
func (d *ProfileDraft) Remove(name string) error {
	if _, err := d.Find(name); err != nil {
		return err
	}
	delete(d.profilesText, name)
	delete(d.profiles, name)
	if d.Current == name {
		d.Current = ""
	}
	return nil
}

// Use makes a profile the current one.
func (d *ProfileDraft) Use(name string) error {
	p, err := d.Find(name)
	if err == nil {
		d.Current = p.Name
	}
	return err
}

// Unset makes no profile the current one.
func (d *ProfileDraft) Unset() { d.Current = "" }

// encode returns the text of the file, as the Python package writes it.
func (d *ProfileDraft) encode() ([]byte, error) {
	text := map[string]any{}
	maps.Copy(text, d.text)
	text[profilesKey], text[currentKey] = d.profilesText, nil
	if d.Current != "" {
		text[currentKey] = d.Current
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b) // sorts the keys
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return nil, fmt.Errorf("writing the profiles as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// lockTime is how long to wait for a lock. It is held for milliseconds.
const lockTime = 10 * time.Second

// lock takes a file's lock, which no other process and no other caller in this one has then. The
// file stays: removing it would let two have the lock.
func lock(ctx context.Context, path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if err := platform.Wait(wait, file); err != nil {
		_ = file.Close()
		if wait.Err() != nil {
			return nil, fmt.Errorf("waiting for another program that changes them, which has locked %s: %w", path, err)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}

// replace writes a file in one step: after a crash it has the old text or the new one.
func replace(path string, text []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(text)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // not every system can
		_ = dir.Close()
	}
	return nil
}
