// Package lazyregexp compiles regular expressions at their first use: together they
// take a command longer to compile than its flags to parse, and it uses few of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles the expression once and returns it. An
// expression that does not compile panics then, as regexp.MustCompile does.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
