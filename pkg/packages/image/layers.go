package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/packages/wheel"
)

// layers makes sure that the registry has a layer for every wheel. It returns at most most
// layers in the image's order. If believe is false, notes of the registry are not used.
func (m *maker) layers(ctx context.Context, most int, believe bool) ([]layer, error) {
	found, err := m.each(ctx, believe)
	if err != nil {
		return nil, err
	}
	// As InOrder has them in a pod. Notes say the sizes, which not every index tells.
	sizes := make([]int64, len(found))
	for i, l := range found {
		sizes[i] = l.names.Wheels
	}
	var layers []layer
	for _, group := range wheel.Group(sizes, most) {
		var wheels []wheel.Source
		for _, i := range group {
			wheels = append(wheels, m.env.Wheels[i])
		}
		l := found[group[0]]
		if len(group) > 1 {
			if l, err = m.shared(ctx, wheels, believe); err != nil {
				return nil, err
			}
		}
		layers = append(layers, l)
	}
	return layers, nil
}

func (m *maker) each(ctx context.Context, believe bool) ([]layer, error) {
	layers := make([]layer, len(m.env.Wheels))
	known := make([]bool, len(layers))
	if believe {
		notes, group := errgroup.WithContext(ctx)
		notes.SetLimit(readers)
		for i, w := range m.env.Wheels {
			notes.Go(func() (err error) {
				layers[i], known[i], err = m.recall(group, keyOf([]wheel.Source{w}, m.env.Layout, m.env.Bytecode))
				if known[i] {
					m.done(1)
				}
				return err
			})
		}
		if err := notes.Wait(); err != nil {
			return nil, err
		}
	}
	sizes, err := m.sizes(ctx, known)
	if err != nil {
		return nil, err
	}
	return layers, inLanes(ctx, sizes, func(ctx context.Context, i int) error {
		if known[i] {
			return nil
		}
		l, err := m.obtain(ctx, m.env.Wheels[i:i+1], believe)
		if err == nil {
			layers[i] = l
			m.done(1)
		}
		return err
	})
}

// inLanes does something for each of several things of the given sizes, for many small ones at a time, and beside
// them for few large ones: over a slow line, each of many would take so long that connections break. The
// largest are first, since the others can be done beside them.
func inLanes(ctx context.Context, sizes []int64, do func(ctx context.Context, i int) error) error {
	var large, small []int
	for _, i := range slices.Concat(wheel.Group(sizes, len(sizes))...) {
		if sizes[i] > wheel.Large {
			large = append(large, i)
		} else {
			small = append(small, i)
		}
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, lane := range []struct {
		things []int
		most   int
	}{{large, largeMakers}, {small, makers}} {
		next := make(chan int, len(lane.things))
		for _, i := range lane.things {
			next <- i
		}
		close(next)
		for range min(lane.most, len(lane.things)) {
			all.Go(func() error {
				for i := range next {
					if err := do(ctx, i); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	return all.Wait()
}

// sizes returns the sizes of wheels as far as they are known; those that a registry has a layer for don't
// matter. It returns an error if too much would have to be sent.
func (m *maker) sizes(ctx context.Context, known []bool) ([]int64, error) {
	e := &LimitError{Limit: m.options.Limit}
	sizes, err := m.fetcher.sizes(ctx, m.env.Wheels, func(i int) bool { return known[i] || e.Limit == 0 })
	if err != nil {
		return nil, err
	}
	for i, size := range sizes {
		if !known[i] {
			e.Wheels, e.Bytes = e.Wheels+1, e.Bytes+size
		}
	}
	if e.Limit > 0 && e.Bytes > e.Limit {
		return nil, e
	}
	return sizes, nil
}

func (m *maker) shared(ctx context.Context, wheels []wheel.Source, believe bool) (layer, error) {
	if believe {
		if l, ok, err := m.recall(ctx, keyOf(wheels, m.env.Layout, m.env.Bytecode)); ok || err != nil {
			return l, err
		}
	}
	return m.obtain(ctx, wheels, believe)
}

// obtain returns the layer of wheels that have no note. If bytecode is wanted but can't be
// compiled here, it returns the layer without bytecode, which may have a note.
func (m *maker) obtain(ctx context.Context, wheels []wheel.Source, believe bool) (layer, error) {
	k := keyOf(wheels, m.env.Layout, m.env.Bytecode)
	if k.bytecode && m.options.Compiler.Python == "" {
		m.warn("modules are not compiled, since there is no Python %s on this machine: jobs start more slowly", k.layout.Python)
		k.bytecode = false
		if believe {
			if l, ok, err := m.recall(ctx, k); ok || err != nil {
				return l, err
			}
		}
	}
	var opened []*wheel.Wheel
	for _, w := range wheels {
		file, err := m.fetcher.fetch(ctx, w)
		if err != nil {
			return layer{}, err
		}
		defer discard(file) //nolint:errcheck // the whole directory is removed at the end
		o, err := m.open(file, w)
		if err != nil {
			return layer{}, err
		}
		opened = append(opened, o)
	}
	return m.make(ctx, k, wheels, opened, believe)
}

func (m *maker) open(file *os.File, w wheel.Source) (*wheel.Wheel, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", w.File, err)
	}
	return wheel.Open(w.File, file, info.Size(), m.env.Layout)
}

func (m *maker) make(ctx context.Context, k key, wheels []wheel.Source, opened []*wheel.Wheel, believe bool) (layer, error) {
	compiled, err := m.compile(ctx, &k, opened)
	if err != nil {
		return layer{}, err
	}
	converted, err := wheel.NewLayer(ctx, compiled...)
	if err != nil {
		return layer{}, err
	}
	for _, text := range converted.Warnings {
		m.warn("%s", text)
	}
	l, err := newLayer(converted, opened...)
	if err != nil {
		return layer{}, err
	}
	// Bytecode may differ a little from machine to machine. The first layer that is noted is
	// everybody's.
	if m.env.Bytecode && believe {
		if other, ok, err := m.recall(ctx, k); ok || err != nil {
			return other, err
		}
	}
	if m.options.Verify && !k.bytecode {
		if other, ok, err := m.recall(ctx, k); err != nil {
			return layer{}, err
		} else if ok && other.names != l.names {
			m.warn("%s:%s names another layer for %s (%s) than this machine built (%s): the tag is replaced; find out who can write to the repository",
				m.repo.Name(), k.tag(), describe(wheels), other.names.Digest, l.names.Digest)
		}
	}
	if err := m.send(ctx, k, l, wheels); err != nil {
		return layer{}, err
	}
	m.mu.Lock()
	m.made.Layers++
	m.mu.Unlock()
	return l, nil
}

// compile compiles the modules of wheels, if the key says so. If the interpreter can't, the
// key says so then.
func (m *maker) compile(ctx context.Context, k *key, opened []*wheel.Wheel) ([]*wheel.Wheel, error) {
	if !k.bytecode {
		return opened, nil
	}
	var compiled []*wheel.Wheel
	for _, o := range opened {
		c, err := m.options.Compiler.Compile(ctx, o)
		if unusable := new(wheel.InterpreterError); errors.As(err, &unusable) {
			m.warn("modules are not compiled, jobs start more slowly: %v", unusable)
			k.bytecode = false
			return opened, nil
		}
		if err != nil {
			return nil, err
		}
		compiled = append(compiled, c)
	}
	return compiled, nil
}
