package wheel

import (
	"fmt"
	"strings"

	"github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"
)

// A command is an entry point that becomes a script: a function of a module.
type command struct{ module, object string }

// entryPoint matches "name = module:object.attribute [extra]". The extras are ignored, as the
// standard asks for.
const (
	entryPoint  = `^([^=]+?)\s*=\s*([\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*)\s*:\s*([\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*)\s*(?:\[[^\]]*\])?(?:\s#.*)?$`
	commandName = `^[\pL\pN_.+-]+( [\pL\pN_.+-]+)*$`
)

// parseEntryPoints returns the commands that an entry_points.txt declares, by name. A window
// of its own makes no difference outside of Windows, so gui_scripts are commands like others.
func parseEntryPoints(text []byte) (map[string]command, error) {
	commands := map[string]command{}
	section, number := "", 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' && line[len(line)-1] == ']' {
			section = strings.TrimSpace(line[1 : len(line)-1])
			continue
		}
		if section != "console_scripts" && section != "gui_scripts" {
			continue
		}
		m := lazyregexp.Of(entryPoint).FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("entry_points.txt: line %d: %q is not of the form name = module:function", number, line)
		}
		if name := m[1]; !lazyregexp.Of(commandName).MatchString(name) || name == "." || name == ".." {
			return nil, fmt.Errorf("entry_points.txt: line %d: %q is not the name of a command", number, name)
		}
		commands[m[1]] = command{module: m[2], object: m[3]}
	}
	return commands, nil
}

// script returns the program that calls the command.
func (c command) script(l Layout) []byte {
	imported, _, _ := strings.Cut(c.object, ".")
	return fmt.Appendf(nil, `%simport sys
from %s import %s
if __name__ == "__main__":
    sys.exit(%s())
`, l.shebang(), c.module, imported, c.object)
}

// wraps reports whether a file in .data/scripts is what setuptools generates for an entry
// point. Installers make their own.
func wraps(script string, commands map[string]command) bool {
	lower, name := strings.ToLower(script), script
	for _, suffix := range []string{".exe", "-script.py", ".pya"} {
		if strings.HasSuffix(lower, suffix) {
			name = script[:len(script)-len(suffix)]
			break
		}
	}
	_, found := commands[name]
	return found
}
