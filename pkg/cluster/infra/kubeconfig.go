package infra

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/backoff"
)

// lockedWithin is how long a command waits for others that write the kubeconfig.
const lockedWithin = 10 * time.Second

// edit changes the kubeconfig. It is read under the locks that kubectl takes, so that nothing is lost
// that someone else writes at the same time. kubectl itself reads before it locks, and fails instead of
// waiting.
func edit(ctx context.Context, access clientcmd.ConfigAccess, change func(*clientcmdapi.Config)) error {
	paths := slices.Compact(slices.Sorted(slices.Values(access.GetLoadingPrecedence())))
	for _, path := range paths { // all in one order
		unlock, err := lock(ctx, path)
		if err != nil {
			return err
		}
		defer unlock()
	}
	config, err := access.GetStartingConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	current := config.CurrentContext
	change(config)
	if current != "" && config.CurrentContext == "" {
		if err := unset(access, current); err != nil {
			return err
		}
		left, err := access.GetStartingConfig()
		if err != nil {
			return fmt.Errorf("reading the kubeconfig: %w", err)
		}
		config.CurrentContext = left.CurrentContext // of another file
	}
	return clientcmd.ModifyConfig(locked{access}, *config, false)
}

// unset makes a context the current one of no file.
func unset(access clientcmd.ConfigAccess, name string) error {
	for _, path := range access.GetLoadingPrecedence() {
		config, err := clientcmd.LoadFromFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the kubeconfig: %w", err)
		}
		if config.CurrentContext != name {
			continue
		}
		config.CurrentContext = ""
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			return err
		}
	}
	return nil
}

type locked struct{ clientcmd.ConfigAccess }

// GetLoadingPrecedence implements clientcmd.ConfigAccess: these are the files to lock.
func (locked) GetLoadingPrecedence() []string { return nil }

// lock takes the lock of a file, as kubectl does, and waits while someone else has it.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	name := path + ".lock"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	timer := backoff.Timer{First: 10 * time.Millisecond, Longest: 100 * time.Millisecond}
	for begin := time.Now(); ; {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0)
		if err == nil {
			return func() { _ = os.Remove(name) }, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if stopped := timer.Sleep(ctx); stopped != nil || time.Since(begin) > lockedWithin {
			err = fmt.Errorf("%w: another program writes the kubeconfig; if none does, remove %s", err, name)
			if stopped != nil {
				err = fmt.Errorf("%w: %w", stopped, err)
			}
			return nil, err
		}
	}
}
