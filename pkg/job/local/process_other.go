//go:build !linux && !darwin

package local

import (
	"context"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return nil }

func startTime(int) (start string, running bool, err error) { return "", false, Supported() }

func here() (boot, machine string) { return "", "" }

func terminate(int) error { return Supported() }

func killSession(int) error { return Supported() }

func waitExit(context.Context, Process) error { return Supported() }
