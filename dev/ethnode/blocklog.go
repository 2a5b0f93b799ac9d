package ethnode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
)

// ErrOtherChain: the block log belongs to a chain with another genesis or chain id.
var ErrOtherChain = errors.New("the block log belongs to another chain")

// ErrDamaged: the block log is broken before its end, which no crash does.
var ErrDamaged = errors.New("the block log is damaged")

// The file is a header (magic, chain id, genesis hash) and records of length (4 bytes), CRC-32C
// (4), payload. A record is one step of the producer, synced before the next begins.
const (
	logName      = "blocks.log"
	logMagic     = "gwblk\x00\x001"
	logHeader    = len(logMagic) + 8 + common.HashLength
	recordHeader = 8
)

// step is one action of the producer: new blocks, oldest first, and the tags from then on.
type step struct {
	Blocks []*types.Block
	Tip    tip
}

// tip names the head and the final block.
type tip struct {
	Head, Final common.Hash
}

// history is the content of a block log when it was opened.
type history struct {
	tip    tip
	blocks map[common.Hash]*types.Block
}

// line returns the blocks after genesis that lead to the head, oldest first.
func (h history) line(genesis common.Hash) ([]*types.Block, error) {
	var line []*types.Block
	for at := h.tip.Head; at != genesis && at != (common.Hash{}); {
		block := h.blocks[at]
		if block == nil {
			return nil, fmt.Errorf("block %s is missing: %w", at, ErrDamaged)
		}
		line = append(line, block)
		at = block.ParentHash()
	}
	for i, j := 0, len(line)-1; i < j; i, j = i+1, j-1 {
		line[i], line[j] = line[j], line[i]
	}
	return line, nil
}

// blockLog appends what the producer decided. One process at a time has it open.
type blockLog struct {
	file *os.File
}

// openLog opens or makes the log of dir, locks it, and reads it. An unfinished record at its end is
// cut off.
func openLog(dir string, chainID uint64, genesis common.Hash) (*blockLog, history, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, history{}, fmt.Errorf("making the chain's folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, logName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, history{}, fmt.Errorf("opening the block log: %w", err)
	}
	past, err := lockLog(file, chainID, genesis)
	if err != nil {
		file.Close()
		return nil, history{}, fmt.Errorf("block log %s: %w", file.Name(), err)
	}
	return &blockLog{file: file}, past, nil
}

func lockLog(file *os.File, chainID uint64, genesis common.Hash) (history, error) {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return history{}, fmt.Errorf("another process has it open: %w", err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return history{}, fmt.Errorf("reading: %w", err)
	}
	past, good, err := readLog(content, logHead(chainID, genesis))
	if err != nil {
		return history{}, err
	}
	if good == 0 {
		return past, startFile(file, logHead(chainID, genesis))
	}
	if err := file.Truncate(int64(good)); err != nil {
		return history{}, fmt.Errorf("cutting an unfinished record: %w", err)
	}
	_, err = file.Seek(int64(good), io.SeekStart)
	return past, err
}

func logHead(chainID uint64, genesis common.Hash) []byte {
	head := binary.BigEndian.AppendUint64([]byte(logMagic), chainID)
	return append(head, genesis[:]...)
}

// startFile writes the header of a new log, or of one that died while it was made.
func startFile(file *os.File, head []byte) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	if _, err := file.WriteAt(head, 0); err != nil {
		return err
	}
	if _, err := file.Seek(int64(len(head)), io.SeekStart); err != nil {
		return err
	}
	return file.Sync()
}

// readLog parses content and returns the length of its complete part. Zero means that not even the
// header is complete.
func readLog(content, head []byte) (history, int, error) {
	past := history{blocks: make(map[common.Hash]*types.Block)}
	if len(content) < logHeader {
		return past, 0, nil
	}
	if string(content[:logHeader]) != string(head) {
		return past, 0, ErrOtherChain
	}
	at := logHeader
	for at < len(content) {
		size, ok := wholeRecord(content[at:])
		if !ok {
			break
		}
		if err := past.add(content[at+recordHeader : at+size]); err != nil {
			return past, 0, fmt.Errorf("at byte %d: %w", at, err)
		}
		at += size
	}
	if err := checkTail(content[at:]); err != nil {
		return past, 0, fmt.Errorf("at byte %d: %w", at, err)
	}
	return past, at, nil
}

// wholeRecord returns the size of the record that rest begins with, if all of it is there and
// unhurt.
func wholeRecord(rest []byte) (int, bool) {
	if len(rest) < recordHeader {
		return 0, false
	}
	size := recordHeader + uint64(binary.BigEndian.Uint32(rest))
	if size > uint64(len(rest)) {
		return 0, false
	}
	return int(size), binary.BigEndian.Uint32(rest[4:]) == checksum(rest[recordHeader:size])
}

// checkTail distinguishes an unfinished end from damage: a crash leaves nothing readable behind the
// record that it broke.
func checkTail(tail []byte) error {
	if len(tail) < recordHeader {
		return nil
	}
	next := recordHeader + uint64(binary.BigEndian.Uint32(tail))
	if next >= uint64(len(tail)) {
		return nil
	}
	if _, ok := wholeRecord(tail[next:]); ok {
		return ErrDamaged
	}
	return nil
}

func checksum(payload []byte) uint32 {
	return crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli))
}

func (h *history) add(payload []byte) error {
	var s step
	if err := rlp.DecodeBytes(payload, &s); err != nil {
		return fmt.Errorf("decoding a step: %w", err)
	}
	for _, block := range s.Blocks {
		h.blocks[block.Hash()] = block
	}
	h.tip = s.Tip
	return nil
}

// append writes a step and returns when it is on disk. After an error the log accepts no more. The
// data behind the last complete record is unknown, and the next open cuts it off.
func (l *blockLog) append(s step) error {
	payload, err := rlp.EncodeToBytes(s)
	if err != nil {
		return fmt.Errorf("encoding a step: %w", err)
	}
	record := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	record = binary.BigEndian.AppendUint32(record, checksum(payload))
	if _, err := l.file.Write(append(record, payload...)); err != nil {
		l.file.Close()
		return fmt.Errorf("writing the block log: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		l.file.Close()
		return fmt.Errorf("syncing the block log: %w", err)
	}
	return nil
}

func (l *blockLog) close() error {
	if err := l.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("closing the block log: %w", err)
	}
	return nil
}
