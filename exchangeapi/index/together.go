package index

import (
	"context"
	"errors"
	"sync"
)

// notes are those that nobody writes yet. Who gets the right to commit writes all of them, so that callers who wait for it at the same time share
// one transaction.
type notes struct {
	mu   sync.Mutex
	list []*note
}

// note is one caller's. What became of it belongs to who has commits.
type note struct {
	write func(*applier) error
	done  bool
	err   error
}

func (w *notes) add(n *note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, n)
}

func (w *notes) take() []*note {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.list
	w.list = nil
	return all
}

// note writes a note with those of other callers, whose end of patience does not cut it.
func (x *Index) note(ctx context.Context, write func(*applier) error) error {
	n := &note{write: write}
	x.noted.add(n)
	x.commits.Lock()
	defer x.commits.Unlock()
	if !n.done {
		x.writeTogether(context.WithoutCancel(ctx), x.noted.take())
	}
	return n.err
}

// writeTogether writes each alone where one of them cannot be written: that must not fail the others.
func (x *Index) writeTogether(ctx context.Context, notes []*note) {
	err := x.commit(ctx, nil, func(a *applier) error {
		for _, n := range notes {
			if err := n.write(a); err != nil {
				return err
			}
		}
		return nil
	})
	alone := err != nil && !errors.Is(err, errCommit) && len(notes) > 1
	for _, n := range notes {
		n.done, n.err = true, err
		if alone {
			n.err = x.commit(ctx, nil, n.write)
		}
	}
}
