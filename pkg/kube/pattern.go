package kube

import (
	"regexp"
	"sync"
)

// lazily compiles a regular expression at its first use: only a job in trouble
// needs one, and every command would pay for all of them.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
