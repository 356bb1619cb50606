// Package lazyregexp compiles regular expressions at their first use: together they
// take a command longer to compile than its flags to parse, and it uses few of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// compiled are the expressions that Of has compiled, by their texts.
var compiled = struct {
	sync.Mutex
	byText map[string]*regexp.Regexp
}{byText: map[string]*regexp.Regexp{}}

// Of returns the expression of a text, which is compiled once. One that does not compile
// panics, as in regexp.MustCompile.
func Of(text string) *regexp.Regexp {
	compiled.Lock()
	defer compiled.Unlock()
	if compiled.byText[text] == nil {
		compiled.byText[text] = regexp.MustCompile(text)
	}
	return compiled.byText[text]
}
