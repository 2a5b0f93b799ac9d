package index

import (
	"fmt"
	"time"
)

const (
	firstHeight = 1 // of a chain's first block, whose time is the chain's own choice
	askEvery    = 10 * time.Second
	maxHeadAge  = time.Minute
	stillBlocks = 3 // so many times the time between two blocks, where that is long
)

// nodeHead judges the newest snapshot block of a node. A node answers as usual when its chain
// stalls or when it no longer follows the chain. The zero value is ready. It is not safe for
// concurrent use.
type nodeHead struct {
	asked    time.Time
	height   uint64
	time     time.Time     // of the newest block; of a chain that has only its first block, when that was seen first
	interval time.Duration // the shortest between two blocks that was seen; 0: none yet
}

// Due reports whether the node is to be asked.
func (h *nodeHead) Due(now time.Time) bool { return now.Sub(h.asked).Abs() >= askEvery }

// See takes the node's answer.
func (h *nodeHead) See(height uint64, at, now time.Time) {
	if height == firstHeight {
		at = now
		if h.height == firstHeight {
			at = h.time
		}
	}
	if h.height > firstHeight && height > h.height && at.After(h.time) {
		interval := at.Sub(h.time) / time.Duration(height-h.height)
		if h.interval == 0 || interval < h.interval {
			h.interval = interval
		}
	}
	h.height, h.time, h.asked = height, at, now
}

// Standstill returns an error while the chain does not advance.
func (h *nodeHead) Standstill(now time.Time) error {
	if h.height == 0 || now.Sub(h.time) <= max(maxHeadAge, stillBlocks*h.interval) {
		return nil
	}
	return &StandstillError{h.height, h.time}
}

// StandstillError contains the time of the last new snapshot block of a node.
type StandstillError struct {
	Height uint64
	Since  time.Time
}

func (e *StandstillError) Error() string {
	return fmt.Sprintf("the node's latest snapshot block, %d, is of %s: its chain is stalled, or it does not follow the chain", e.Height, e.Since.UTC().Format(time.RFC3339))
}
