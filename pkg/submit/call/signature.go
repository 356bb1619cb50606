package call

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// Signature is a function at the top level of a file, with the names by which its arguments can be
// passed.
type Signature struct {
	Name   string
	Params []string
}

// Signatures returns the functions of the file that is named before the colon of a TARGET, in the
// file's order. It is for completion: it starts no python, and what it can't read it leaves out.
func Signatures(where, cwd string) []Signature {
	path := absolute(where, cwd)
	if filepath.Ext(where) != ".py" {
		path = moduleHere(cwd, where)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return signatures(string(source))
}

const definition = `(?m)^(?:async[ \t]+)?def[ \t]+([\pL_][\pL\pN_]*)[ \t]*\(`

func signatures(source string) []Signature {
	var found []Signature
	for _, at := range lazyregexp.Of(definition).FindAllStringSubmatchIndex(source, -1) {
		found = append(found, Signature{Name: source[at[2]:at[3]], Params: params(source[at[1]:])})
	}
	return found
}

// params reads the names of parameters up to the parenthesis that closes their list.
func params(list string) []string {
	var names []string
	depth, begin := 0, 0
	end := func(i int) {
		name := strings.TrimSpace(strings.FieldsFunc(list[begin:i]+" ", func(r rune) bool { return r == ':' || r == '=' })[0])
		switch {
		case name == "/": // those before it have no names for who calls
			names = nil
		case isIdentifier(name):
			names = append(names, name)
		}
		begin = i + 1
	}
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '#':
			line, _, _ := strings.Cut(list[i:], "\n")
			list = list[:i] + strings.Repeat(" ", len(line)) + list[i+len(line):]
		case c == '"' || c == '\'':
			closing := strings.IndexByte(list[i+1:], c)
			if closing < 0 {
				return names
			}
			i += closing + 1
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case depth == 0 && c == ')':
			end(i)
			return names
		case depth == 0 && c == ',' && !inLambda(list[begin:i]):
			end(i)
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return names
}

// inLambda reports whether a parameter's text ends within the parameters of a lambda.
func inLambda(text string) bool {
	_, after, found := strings.Cut(text, "=")
	at := strings.LastIndex(after, "lambda")
	return found && at >= 0 && !strings.Contains(after[at:], ":")
}
