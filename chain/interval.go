package chain

import (
	"fmt"
	"slices"
	"time"
)

const (
	intervalBlocks = 100 // the newest ones, over which the time between blocks is measured
	intervalSpans  = 5   // in so many parts
)

// UsualInterval returns the usual time between two blocks: over the newest hundred from first to
// newest, in five spans, the median. So an outage, which makes one span long, does not count. at
// returns the time of a block. ErrNotFound: there are too few blocks.
func UsualInterval(first, newest uint64, at func(height uint64) (time.Time, error)) (time.Duration, error) {
	if newest > first+intervalBlocks {
		first = newest - intervalBlocks
	}
	if newest <= first {
		return 0, fmt.Errorf("time between blocks: %w", ErrNotFound)
	}
	blocks := newest - first
	spans := min(blocks, intervalSpans)
	var each []time.Duration
	from, began := first, time.Time{}
	for i := range spans + 1 {
		to := first + blocks*i/spans
		ended, err := at(to)
		if err != nil {
			return 0, fmt.Errorf("time between blocks: %w", err)
		}
		if i > 0 {
			each = append(each, ended.Sub(began)/time.Duration(to-from))
		}
		from, began = to, ended
	}
	slices.Sort(each)
	return each[(len(each)-1)/2], nil
}
