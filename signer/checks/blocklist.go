package checks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// BlockListConfig is the section signer.block_list of the configuration. Without lists and a
// service no address is listed.
type BlockListConfig struct {
	Files  []BlockList `yaml:"files"`
	Screen BlockHook   `yaml:"screen"`
}

const maxLists = 32

// Check names the first field that cannot be used, and why.
func (c BlockListConfig) Check() error {
	if len(c.Files) > maxLists {
		return fmt.Errorf("files: at most %d are allowed", maxLists)
	}
	names := map[string]bool{}
	for _, l := range c.Files {
		if l.Name == "" || len(l.Name) > maxName || names[l.Name] || l.File == "" {
			return fmt.Errorf("files: %q: name and file are required; each name must be unique and have at most %d letters", l.Name, maxName)
		}
		names[l.Name] = true
	}
	if err := c.Screen.Check(); err != nil {
		return fmt.Errorf("screen: %w", err)
	}
	return nil
}

// Wanted reports whether anybody is screened at all.
func (c BlockListConfig) Wanted() bool { return len(c.Files) > 0 || c.Screen.URL != "" }

// BlockLists is safe for concurrent use.
type BlockLists struct {
	files  []*list
	screen *screen // nil for none
}

// NewBlockLists reads the lists of a checked configuration. An unreadable list is no error at
// first: no payment passes until it can be read.
func NewBlockLists(c BlockListConfig, now func() time.Time) (*BlockLists, error) {
	l := &BlockLists{}
	for _, f := range c.Files {
		l.files = append(l.files, &list{BlockList: f})
	}
	if c.Screen.URL != "" {
		var err error
		if l.screen, err = newScreen(c.Screen, now); err != nil {
			return nil, err
		}
	}
	l.Refresh()
	return l, nil
}

// Refresh reads the files that have changed. A missing or broken file keeps its earlier content;
// Fault reports it.
func (l *BlockLists) Refresh() {
	for _, f := range l.files {
		f.refresh()
	}
}

// Listed returns the name of the list that contains an address; empty for none. An error means that
// the answer is unknown, and that nothing may pass.
func (l *BlockLists) Listed(ctx context.Context, q BlockQuestion) (name string, err error) {
	if q.Address == "" {
		return "", nil
	}
	for _, f := range l.files {
		has, err := f.has(q.Address)
		if err != nil {
			return "", err
		}
		if has {
			return f.Name, nil
		}
	}
	if l.screen == nil {
		return "", nil
	}
	return l.screen.listed(ctx, q)
}

// Fault reports unreadable files, or the service's fault.
func (l *BlockLists) Fault() error {
	var faults []error
	for _, f := range l.files {
		f.mu.RLock()
		faults = append(faults, f.fault)
		f.mu.RUnlock()
	}
	if l.screen != nil {
		l.screen.mu.Lock()
		faults = append(faults, l.screen.fault)
		l.screen.mu.Unlock()
	}
	return errors.Join(faults...)
}
