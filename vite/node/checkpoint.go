package node

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// A state file holds the complete state just after a snapshot block, so that a start need not
// replay the log from its beginning. The earlier blocks are in the history by then. It is only an
// optimisation: without it, or if it is damaged, an older one or the genesis serves.
//
//	state-<log offset, 16 hex digits>-<snapshot height>
//	"vitestat" ‖ format ‖ genesis digest 32 ‖ offset ‖ frame ‖ state ‖ CRC-32C 4
const (
	stateMagic  = "vitestat"
	stateFormat = 7
	statePrefix = "state-"
	keepStates  = 2
)

// encodeFile is the content of a state file for the place in the log.
func encodeFile(s *ledger.State, at store.Place) []byte {
	data := append(fileHead(s.Rules), binary.AppendUvarint(nil, uint64(at.Offset))...)
	data = append(binary.AppendUvarint(data, at.Frame), ledger.EncodeState(s)...)
	return binary.BigEndian.AppendUint32(data, store.Checksum(data))
}

func fileHead(r ledger.Rules) []byte {
	return append(append([]byte(stateMagic), stateFormat), r.Digest[:]...)
}

// writeState makes a state file and removes all but the newest two.
func writeState(dir string, data []byte, at store.Place, height uint64) error {
	path := filepath.Join(dir, fmt.Sprintf("%s%016x-%d", statePrefix, at.Offset, height))
	if err := writeWhole(path, data); err != nil {
		return fmt.Errorf("writing the state file: %w", err)
	}
	names, err := stateFiles(dir)
	if err != nil || len(names) <= keepStates {
		return err
	}
	return removeAll(names[keepStates:])
}

// heightOf is the snapshot height in a state file's name; a foreign name counts as the highest, so
// that it is not used.
func heightOf(path string) uint64 {
	var offset, height uint64
	if n, err := fmt.Sscanf(filepath.Base(path), statePrefix+"%x-%d", &offset, &height); n != 2 || err != nil {
		return math.MaxUint64
	}
	return height
}

// writeWhole makes a file appear with all its content or not at all.
func writeWhole(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// stateFiles lists the state files, the newest first.
func stateFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing state files: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), statePrefix) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

func removeAll(names []string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a state file: %w", err)
		}
	}
	return nil
}

// readState is nil for a file that is damaged or of another format or genesis.
func readState(path string, r ledger.Rules) (*ledger.State, store.Place) {
	data, err := os.ReadFile(path)
	if err != nil || len(data) < 4 {
		return nil, store.Place{}
	}
	body, sum := data[:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
	if store.Checksum(body) != sum {
		return nil, store.Place{}
	}
	return parseFile(body, r)
}

// parseFile reads a state file without its checksum.
func parseFile(body []byte, r ledger.Rules) (*ledger.State, store.Place) {
	rest, ok := bytes.CutPrefix(body, fileHead(r))
	if !ok {
		return nil, store.Place{}
	}
	offset, n := binary.Uvarint(rest)
	frame, m := binary.Uvarint(rest[max(n, 0):])
	if n <= 0 || m <= 0 || int64(offset) < int64(store.HeaderSize) {
		return nil, store.Place{}
	}
	return ledger.DecodeState(rest[n+m:], r), store.Place{Offset: int64(offset), Frame: frame}
}
