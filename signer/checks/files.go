// Addresses on a block list are not paid, and money from them is not forwarded. A list is a file or
// a screening service. An unreadable list or an unreachable service lets no payment pass.

package checks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// bounds of a list's file.
const (
	maxFile = 64 << 20
	maxLine = 4096
)

// BlockList names a file of addresses: one a line, "#" begins a comment. It is read again when it
// changes.
type BlockList struct {
	Name string `yaml:"name"`
	File string `yaml:"file"`
}

// list is a file's addresses.
type list struct {
	BlockList
	mu    sync.RWMutex
	stamp time.Time
	size  int64
	addrs map[string]bool // nil until the file was read once
	fault error           // why the file of now is not used: what was read before stays
}

// plain is an address as lists compare it: those of EVM chains in whatever case.
func plain(address string) string {
	if strings.HasPrefix(address, "0x") || strings.HasPrefix(address, "0X") {
		return strings.ToLower(address)
	}
	return address
}

// refresh reads the file if it has changed.
func (l *list) refresh() {
	info, err := os.Stat(l.File)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.fault = fmt.Errorf("list %s: %w", l.Name, err)
		return
	}
	if l.fault == nil && l.addrs != nil && info.ModTime().Equal(l.stamp) && info.Size() == l.size {
		return
	}
	addrs, err := read(l.File)
	if err != nil {
		l.fault = fmt.Errorf("list %s: %w", l.Name, err)
		return
	}
	l.addrs, l.stamp, l.size, l.fault = addrs, info.ModTime(), info.Size(), nil
}

func read(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	addrs, n := map[string]bool{}, 0
	bounded := &io.LimitedReader{R: f, N: maxFile + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		switch fields := strings.Fields(text); len(fields) {
		case 0:
		case 1:
			addrs[plain(fields[0])] = true
		default:
			return nil, fmt.Errorf("line %d: must be one address", n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if bounded.N <= 0 {
		return nil, errors.New("more than 64 MiB")
	}
	return addrs, nil
}

// has reports whether an address is on the list. A list that was never read answers its fault.
func (l *list) has(address string) (bool, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.addrs == nil {
		return false, l.fault
	}
	return l.addrs[plain(address)], nil
}
