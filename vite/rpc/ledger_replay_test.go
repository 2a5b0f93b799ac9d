package rpc

import "testing"

// ledgerBreak is the line at which the recorded ledger session paused for the session of
// subscriptions: later blocks build on both.
const ledgerBreak = 196

// TestLedgerReplay plays the recorded ledger session, and in its pause the one of subscriptions, to
// our node.
func TestLedgerReplay(t *testing.T) {
	lines, events := recording(t, "ledger"), recording(t, "subscribe")
	r := newReplay(start(t, nil), lines, events)
	v := judge(t, "ledger")
	for _, l := range lines {
		if l.number == ledgerBreak {
			r.playSubscriptions(events)
		}
		if at := reached[l.number]; at > 0 {
			r.advance(at)
		}
		v.add(l, r.play(l, looseAt[l.number]))
	}
	v.finish()
}

// reached contains snapshot heights that the recorded chain had certainly reached by a line, where
// no answer contains them.
var reached = map[int]uint64{2: 9, 109: 75, 119: 120, 136: 182, 158: 220, 196: 304, 200: 345}

// looseAt are members whose recorded value depends on the recorded chain's own pace or hashes.
var looseAt = map[int]map[string]bool{
	// Our contracts receive before the next snapshot block, the recorded ones one or two blocks later.
	95:  members("confirmations", "confirmedTimes", "firstSnapshotHeight"),
	96:  members("confirmations", "confirmedTimes", "firstSnapshotHeight", "data"), // data: the hash of a receipt
	110: members("expirationHeight"),
	198: members("confirmations", "confirmedTimes", "firstSnapshotHeight"),
	199: members("expirationHeight"),
	// Unreceived sends are ordered by hash.
	115: members("hash", "height", "amount", "prevHash", "previousHash"),
	116: members("hash", "height", "amount", "prevHash", "previousHash"),
	117: members("hash", "height", "amount", "prevHash", "previousHash"),
	// The recorded node had no network.
	129: members("height"),
	// Quota comes back with every snapshot block.
	166: members("currentQuota"),
	218: members("current", "currentUt", "utps"),
}

func members(names ...string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range names {
		set[name] = true
	}
	return set
}
