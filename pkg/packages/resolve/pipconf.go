package resolve

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// pipFiles returns where pip looks for its configuration, the file that counts most last, from
// https://pip.pypa.io/en/stable/topics/configuration.
func (r Resolver) pipFiles() (files []string) {
	in := func(dir, file string) {
		if dir != "" {
			files = append(files, filepath.Join(dir, filepath.FromSlash(file)))
		}
	}
	named := r.getenv("PIP_CONFIG_FILE")
	if named == os.DevNull {
		return nil
	}
	user := named == "" || !isThere(named)
	switch runtime.GOOS {
	case "windows":
		in(r.getenv("PROGRAMDATA"), "pip/pip.ini")
		if user {
			in(r.Home, "pip/pip.ini")
			in(r.getenv("APPDATA"), "pip/pip.ini")
		}
		in(r.getenv("VIRTUAL_ENV"), "pip.ini")
		in(named, "")
		return files
	case "darwin":
		in(r.root+"/Library/Application Support", "pip/pip.conf")
	default:
		in(r.root+"/etc/xdg", "pip/pip.conf")
		in(r.root+"/etc", "pip.conf")
	}
	if user {
		in(r.Home, ".pip/pip.conf")
		in(r.configDir(), "pip/pip.conf")
		if runtime.GOOS == "darwin" {
			in(r.Home, "Library/Application Support/pip/pip.conf")
		}
	}
	in(r.getenv("VIRTUAL_ENV"), "pip.conf")
	in(named, "")
	return files
}

// configDir returns where programs keep their users' settings, "" without a home directory.
func (r Resolver) configDir() string {
	if dir := r.getenv("XDG_CONFIG_HOME"); dir != "" || r.Home == "" {
		return dir
	}
	return filepath.Join(r.Home, ".config")
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// setting is a value of pip's configuration, and the file that has it.
type setting struct{ value, file string }

// pipSettings returns what pip's configuration says to pip install, by the names of its options without dashes before
// them. Files that can't be read say nothing.
func (r Resolver) pipSettings() map[string]setting {
	all := map[string]map[string]setting{"global": {}, "install": {}}
	for _, file := range r.pipFiles() {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		readPipConf(strings.TrimPrefix(string(text), "\ufeff"), func(section, name, value string) {
			if of := all[section]; of != nil {
				of[strings.TrimLeft(strings.ReplaceAll(name, "_", "-"), "-")] = setting{value, file}
			}
		})
	}
	maps.Copy(all["global"], all["install"])
	return all["global"]
}

// readPipConf reads a configuration file as Python's configparser does. set is called with every value.
func readPipConf(text string, set func(section, name, value string)) {
	section, name, value := "", "", ""
	end := func() {
		if name != "" {
			set(section, strings.ToLower(name), strings.TrimSpace(value))
		}
		name = ""
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch isMore := name != "" && strings.TrimLeft(line, " \t") != line; {
		case trimmed == "", trimmed[0] == '#', trimmed[0] == ';':
		case isMore:
			value += "\n" + trimmed
		case trimmed[0] == '[':
			end()
			section = strings.Trim(trimmed, "[]")
		default:
			end()
			if i := strings.IndexAny(trimmed, "=:"); i > 0 {
				name, value = strings.TrimSpace(trimmed[:i]), trimmed[i+1:]
			}
		}
	}
	end()
}

// addPipConf adds the indexes and links of pip's configuration. As for pip, a variable takes the place of a setting.
func (r Resolver) addPipConf(all *Sources, settings map[string]setting) error {
	for _, o := range []struct{ option, variable string }{
		{optionIndex, "PIP_INDEX_URL"}, {optionExtra, "PIP_EXTRA_INDEX_URL"}, {optionLinks, "PIP_FIND_LINKS"},
	} {
		set := settings[strings.TrimPrefix(o.option, "--")]
		if r.getenv(o.variable) != "" {
			continue
		}
		for _, address := range strings.Fields(set.value) {
			s, err := r.asItIs(o.option, address, "")
			if err != nil {
				return fmt.Errorf("%s: %w", set.file, err)
			}
			s.From = set.file
			all.Others = add(all.Others, s)
		}
	}
	return nil
}

// asItIs reads an address that a variable or a configuration file names. Only files of requirements have variables in
// URLs, so braces are what they are. Directories of links are relative to the working directory.
func (r Resolver) asItIs(option, value, name string) (Source, error) {
	value = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(value)
	if option == optionLinks && !strings.Contains(value, ":/") {
		if rest, found := strings.CutPrefix(value, "~/"); found && r.Home != "" {
			value = filepath.Join(r.Home, rest)
		}
		path, err := filepath.Abs(value)
		return Source{Option: option, Dir: path}, err
	}
	return r.address(option, value, name)
}

// noIndex returns what says that no index is asked: a variable, or a file of pip's configuration; "" if nothing does.
func (r Resolver) noIndex(settings map[string]setting) (string, error) {
	pip := settings["no-index"]
	if value := r.getenv("PIP_NO_INDEX"); value != "" {
		pip = setting{value, "the variable PIP_NO_INDEX"}
	}
	if pip.value == "" {
		return "", nil
	}
	// truths are how pip writes that something holds, or does not.
	truths := map[string]bool{
		"1": true, "on": true, "t": true, "true": true, "y": true, "yes": true,
		"0": false, "f": false, "false": false, "n": false, "no": false, "off": false,
	}
	holds, known := truths[strings.ToLower(pip.value)]
	switch {
	case !known:
		return "", fmt.Errorf("%s: no-index is %q: expected true or false", pip.file, pip.value)
	case holds:
		return pip.file, nil
	}
	return "", nil
}
