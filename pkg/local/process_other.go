//go:build !linux && !darwin

package local

import (
	"context"
	"errors"
	"runtime"
	"syscall"
)

func supported() error {
	return errors.New("local jobs need Linux or macOS, this is " + runtime.GOOS + ": run the job on a cluster, without --local")
}

func ownSession() *syscall.SysProcAttr { return nil }

func startTime(int) (start string, running bool, err error) { return "", false, supported() }

func here() (boot, machine string) { return "", "" }

func terminate(int) error { return supported() }

func killSession(int) error { return supported() }

func waitExit(context.Context, Process) error { return supported() }
