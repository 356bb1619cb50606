package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-kinetic/kinetic/pkg/wheel"
)

// layers makes sure that the registry has a layer for every wheel. It returns at most most
// layers in the image's order, and the wheels in the same. If believe is false, notes of the
// registry are not used.
func (m *maker) layers(ctx context.Context, most int, believe bool) ([]layer, []Wheel, error) {
	found, err := m.each(ctx, believe)
	if err != nil {
		return nil, nil, err
	}
	// As InOrder has them in a pod. Notes say the sizes, which not every index tells.
	sizes := make([]int64, len(found))
	for i, l := range found {
		sizes[i] = l.names.Wheels
	}
	var layers []layer
	var order []Wheel
	for _, group := range wheel.Group(sizes, most) {
		var wheels []Wheel
		for _, i := range group {
			wheels = append(wheels, m.env.Wheels[i])
		}
		l := found[group[0]]
		if len(group) > 1 {
			if l, err = m.shared(ctx, wheels, believe); err != nil {
				return nil, nil, err
			}
		}
		layers, order = append(layers, l), append(order, wheels...)
	}
	return layers, order, nil
}

// each returns the layer of each wheel.
func (m *maker) each(ctx context.Context, believe bool) ([]layer, error) {
	layers := make([]layer, len(m.env.Wheels))
	known := make([]bool, len(layers))
	if believe {
		notes, group := errgroup.WithContext(ctx)
		notes.SetLimit(readers)
		for i, w := range m.env.Wheels {
			notes.Go(func() (err error) {
				layers[i], known[i], err = m.recall(group, keyOf([]Wheel{w}, m.env.Layout, m.env.Bytecode))
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
	if err := m.checkLimit(ctx, known); err != nil {
		return nil, err
	}
	making, group := errgroup.WithContext(ctx)
	making.SetLimit(makers)
	for _, i := range m.largestFirst() {
		if known[i] {
			continue
		}
		making.Go(func() (err error) {
			if layers[i], err = m.obtain(group, m.env.Wheels[i:i+1], believe); err == nil {
				m.done(1)
			}
			return err
		})
	}
	return layers, making.Wait()
}

// largestFirst returns the indexes of the wheels in the order in which they are converted: if
// the one that takes longest came last, the others would not be done beside it.
func (m *maker) largestFirst() []int {
	order := make([]int, len(m.env.Wheels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.env.Wheels[b].Size, m.env.Wheels[a].Size) })
	return order
}

// checkLimit reports whether too much would have to be sent.
func (m *maker) checkLimit(ctx context.Context, known []bool) error {
	e := &LimitError{Limit: m.options.Limit}
	if e.Limit == 0 {
		return nil
	}
	sizes, err := m.fetcher.sizes(ctx, m.env.Wheels, func(i int) bool { return known[i] })
	if err != nil {
		return err
	}
	for i, size := range sizes {
		if !known[i] {
			e.Wheels, e.Bytes = e.Wheels+1, e.Bytes+size
		}
	}
	if e.Bytes > e.Limit {
		return e
	}
	return nil
}

// shared returns the layer that several wheels share.
func (m *maker) shared(ctx context.Context, wheels []Wheel, believe bool) (layer, error) {
	if believe {
		if l, ok, err := m.recall(ctx, keyOf(wheels, m.env.Layout, m.env.Bytecode)); ok || err != nil {
			return l, err
		}
	}
	return m.obtain(ctx, wheels, believe)
}

// obtain returns the layer of wheels that have no note. If bytecode is wanted but can't be
// compiled here, it returns the layer without bytecode, which may have a note.
func (m *maker) obtain(ctx context.Context, wheels []Wheel, believe bool) (layer, error) {
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

// open reads the directory of a wheel.
func (m *maker) open(file *os.File, w Wheel) (*wheel.Wheel, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", w.File, err)
	}
	opened, err := wheel.Open(w.File, file, info.Size(), m.env.Layout)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened[w.SHA256] = opened
	return opened, nil
}

// make converts wheels to a layer, and sends it.
func (m *maker) make(ctx context.Context, k key, wheels []Wheel, opened []*wheel.Wheel, believe bool) (layer, error) {
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
			m.warn("%s:%s says that %s became the layer %s, and it becomes %s: the note is replaced; find out who may write to the repository",
				m.repo.Name(), k.tag(), describe(wheels), other.names.Digest, l.names.Digest)
		}
	}
	if err := m.send(ctx, k, l, wheels); err != nil {
		return layer{}, err
	}
	m.mu.Lock()
	m.made++
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
