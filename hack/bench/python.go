//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
)

// debianPython is the interpreter that Debian's packages of cloudpickle and NumPy are for.
const debianPython = "/usr/bin/python3"

// decorated is the program that the Python package is measured with.
const decorated = `import sys
import kinetic

@kinetic.run(local=sys.argv[1] == "local", **({"cpu": "100m"} if sys.argv[1] != "local" else {}))
def nothing(value=None):
    pass

@kinetic.run(local=True)
def takes(array):
    return None

@kinetic.run(local=True)
def gives(size):
    import numpy
    return numpy.ones(size // 8)

def call(what):
    if what == "takes":
        import numpy
        takes(numpy.ones(int(sys.argv[3]) // 8))
    elif what == "gives":
        gives(int(sys.argv[3]))
    elif what == "map":
        nothing.with_options(memory="100Mi").map(range(int(sys.argv[3])), max_concurrent=16)
    else:
        nothing()

call(sys.argv[2])
`

// gigabyte is the size of the array that travels.
const gigabyte = 1 << 30

// pythonEnv is the environment in which the Python package of this source tree is used.
func (b *bench) pythonEnv() []string {
	root, _ := filepath.Abs("runner")
	return append([]string{"PYTHONPATH=" + root, "KINETIC_BIN=" + b.bin}, b.home...)
}

// python: what the package adds to bare Python and to the command line, and its memory.
func (b *bench) python(ctx context.Context) error {
	if err := exec.CommandContext(ctx, debianPython, "-c", "import cloudpickle, numpy").Run(); err != nil {
		fmt.Println("the figures of the Python package are left out:", debianPython, "has no cloudpickle or NumPy")
		return nil
	}
	for name, text := range map[string]string{"decorated/d.py": decorated, "decorated/f.py": "def f():\n    pass\n"} {
		if err := b.write(name, text); err != nil {
			return err
		}
	}
	dir, env := filepath.Join(b.dir, "decorated"), b.pythonEnv()
	imported, bare, err := pair(runs, command(ctx, dir, env, debianPython, "-c", "import kinetic"), command(ctx, dir, env, debianPython, "-c", "pass"))
	if err != nil {
		return err
	}
	b.row("import kinetic, over python3 -c pass", ms(imported), ms(bare), "+"+ms(sample{wall: imported.wall - bare.wall}), "<= +30 ms")
	called, typed, err := pair(runs, command(ctx, dir, env, debianPython, "d.py", "local", "nothing"),
		command(ctx, dir, env, filepath.Join(b.bin, "kubectl-kinetic"), "run", "f.py:f", "--local"))
	if err != nil {
		return err
	}
	b.row("a decorated no-op with local=True, over run --local", ms(called), ms(typed), "+"+ms(sample{wall: called.wall - typed.wall}), "<= +250 ms")
	for what, title := range map[string]string{"takes": "argument", "gives": "result"} {
		s, err := once(command(ctx, dir, env, debianPython, "d.py", "local", what, strconv.Itoa(gigabyte))())
		if err != nil {
			return err
		}
		b.row("memory of a call with a NumPy array of 1 GiB as its "+title, mb(s.rss), mb(gigabyte), fmt.Sprintf("%.2fx", float64(s.rss)/gigabyte), "<= 1.5x")
	}
	return nil
}

// decorated: the same on the cluster, for one call and for a map.
func (c *cluster) decorated(ctx context.Context) error {
	if err := errors.Join(c.write("project/d.py", decorated), c.write("project/inputs.jsonl", emptyInputs)); err != nil {
		return err
	}
	env := append(c.pythonEnv(), c.env...)
	called, typed, err := pair(slowRuns, command(ctx, c.project(), env, debianPython, "d.py", "cluster", "nothing"),
		c.ours(ctx, "run", "f.py:nothing", "--cpu", "100m"))
	if err != nil {
		return err
	}
	c.row("a decorated no-op on the cluster, over run", ms(called), ms(typed), "+"+ms(sample{wall: called.wall - typed.wall}), "<= +200 ms")
	mapped, lines, err := pair(hostRounds, command(ctx, c.project(), env, debianPython, "d.py", "cluster", "map", strconv.Itoa(inputs)),
		c.ours(ctx, "run", "f.py:nothing", "--map", "inputs.jsonl", "--cpu", "100m", "--memory", "100Mi", "--cleanup=delete"))
	if err != nil {
		return err
	}
	c.compare(fmt.Sprintf("nothing.map of %d inputs / run --map --cleanup=delete", inputs), mapped, lines, "<= 1.2x")
	return nil
}
