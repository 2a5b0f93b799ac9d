package node

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gatewayd/chain/vite/core"
)

// A state file holds the whole state just after a snapshot block, so that a start need not replay the log from its
// beginning; the blocks up to there are in the history by then. It is only a short cut: without it, or if it is damaged,
// an older one or the genesis serves.
//
//	state-<log offset, 16 hex digits>-<snapshot height>   "vitestat" ‖ format ‖ genesis digest 32 ‖ offset ‖ frame ‖ state ‖ CRC-32C 4
const (
	stateMagic  = "vitestat"
	stateFormat = 5
	statePrefix = "state-"
	keepStates  = 2
)

// encodeState is the content of a state file for the place in the log.
func encodeState(s *state, at place) []byte {
	w := &writer{}
	w.raw([]byte(stateMagic))
	w.byte(stateFormat)
	w.raw(s.rules.digest[:])
	w.uint(uint64(at.offset))
	w.uint(at.frame)
	w.state(s)
	return binary.BigEndian.AppendUint32(w.data, checksum(w.data))
}

// writeState makes a state file and removes all but the newest two.
func writeState(dir string, data []byte, at place, height uint64) error {
	path := filepath.Join(dir, fmt.Sprintf("%s%016x-%d", statePrefix, at.offset, height))
	if err := writeWhole(path, data); err != nil {
		return fmt.Errorf("writing the state file: %w", err)
	}
	names, err := stateFiles(dir)
	if err != nil || len(names) <= keepStates {
		return err
	}
	return removeAll(names[keepStates:])
}

// heightOf is the snapshot height in a state file's name; a foreign name counts as the highest, so that it is not used.
func heightOf(path string) uint64 {
	var offset, height uint64
	if n, err := fmt.Sscanf(filepath.Base(path), statePrefix+"%x-%d", &offset, &height); n != 2 || err != nil {
		return math.MaxUint64
	}
	return height
}

// checksum is the CRC-32C of the parts in a row.
func checksum(parts ...[]byte) (sum uint32) {
	for _, p := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), p)
	}
	return sum
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
func readState(path string, r rules) (*state, place) {
	data, err := os.ReadFile(path)
	if err != nil || len(data) < 4 {
		return nil, place{}
	}
	body, sum := data[:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
	if checksum(body) != sum {
		return nil, place{}
	}
	return parseState(body, r)
}

func parseState(body []byte, r rules) (*state, place) {
	head := append([]byte(stateMagic), stateFormat)
	head = append(head, r.digest[:]...)
	rest, ok := bytes.CutPrefix(body, head)
	if !ok {
		return nil, place{}
	}
	in := &reader{data: rest}
	at := place{offset: int64(in.uint()), frame: in.uint()}
	s := in.state(r)
	if in.err != nil || len(in.data) > 0 || at.offset < int64(logHeader) {
		return nil, place{}
	}
	return s, at
}

// state writes everything that a later block can depend on. What follows from it (indexes, sums) is left out, and so are
// the blocks, but for those that no one has received.
func (w *writer) state(s *state) {
	w.uint(s.rollbacks)
	w.amount(s.fees)
	w.uint(s.height())
	latest := &writer{}
	latest.run([]*snapshot{s.latest()})
	w.bytes(latest.data)
	w.tokens(s)
	w.stakes(s)
	w.exchange(&s.exchange)
	addresses := s.addresses()
	w.uint(uint64(len(addresses)))
	for _, a := range addresses {
		w.account(s.accounts[a])
	}
	w.uint(uint64(len(s.pending)))
	for _, e := range s.pending {
		w.raw(e.block.Hash[:])
	}
}

func (w *writer) tokens(s *state) {
	w.uint(uint64(len(s.tokens)))
	for _, id := range sortedTokens(s.tokens) {
		w.token(s.tokens[id])
	}
}

func (w *writer) stakes(s *state) {
	var all []Stake
	for _, a := range s.addresses() {
		all = append(all, s.stakes[a]...)
	}
	w.uint(uint64(len(all)))
	for _, k := range all {
		w.raw(k.ID[:])
		w.raw(k.Staker[:])
		w.raw(k.Beneficiary[:])
		w.amount(k.Amount)
		w.uint(k.ExpirationHeight)
	}
}

func (w *writer) account(a *account) {
	w.raw(a.address[:])
	w.balances(a.balances)
	w.uint(a.powAt)
	w.uint(uint64(len(a.usage)))
	for _, u := range a.usage {
		w.uint(u.height)
		w.uint(u.quota)
	}
	w.uint(a.using.height)
	w.uint(a.using.quota)
	w.contract(a.contract)
	w.uint(a.blocks.tip.Height)
	w.raw(a.blocks.tip.Hash[:])
	w.uint(uint64(a.unreceived.Len()))
	a.unreceived.Scan(func(e *entry) bool {
		w.send(e)
		return true
	})
}

// send writes a block that no one has received. Its snapshot block is zero while there is none.
func (w *writer) send(e *entry) {
	own := *e
	if e.snapshot == nil {
		own.snapshot = &snapshot{}
	}
	w.entry(&own)
	w.uint(own.at.height)
	w.uint(uint64(own.at.number))
}

func (w *writer) contract(c *ContractInfo) {
	w.bool(c != nil)
	if c == nil {
		return
	}
	w.optional(c.Code)
	w.raw(c.GID[:])
	w.raw([]byte{c.ResponseLatency, c.RandomDegree, c.QuotaMultiplier})
	w.bool(c.Builtin)
}

func sortedTokens[V any](m map[core.TokenID]V) []core.TokenID {
	ids := make([]core.TokenID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareTokens)
	return ids
}
