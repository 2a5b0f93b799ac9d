package ws

import (
	"cmp"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/exchangeapi/index"
)

// depthUpdate contains changes of a book, or all of it. A level with quantity zero was removed.
// Numbers count the changes of a book: of two consecutive updates, the second begins with the
// number after the first one's last.
type depthUpdate struct {
	symbol      string
	first, last uint64
	snapshot    bool // the complete book after the change last
	asks, bids  []index.Level
}

func (d depthUpdate) appendJSON(b []byte) []byte {
	b = appendLevels(append(b, `{"asks":`...), d.asks)
	b = appendLevels(append(b, `,"bids":`...), d.bids)
	b = appendInt(b, `,"first":`, int64(d.first))
	b = appendInt(b, `,"last":`, int64(d.last))
	b = appendText(b, `,"s":`, d.symbol)
	if d.snapshot {
		return append(b, `,"snapshot":true}`...)
	}
	return append(b, `,"snapshot":false}`...)
}

// appendProto appends a DepthUpdate.
func (d depthUpdate) appendProto(b []byte) []byte {
	b = protoText(b, 1, d.symbol)
	b = protoInt(b, 2, int64(d.first))
	b = protoInt(b, 3, int64(d.last))
	b = protoInt(b, 4, int64(protowire.EncodeBool(d.snapshot)))
	b = protoLevels(b, 5, d.asks)
	return protoLevels(b, 6, d.bids)
}

// bookState is a market's book as subscribers to its updates have it.
type bookState struct {
	number     uint64 // of the last change
	known      bool   // asks and bids are right
	asks, bids []index.Level
}

// depthUpdates converts a round's updates to changes of books, one push for each. Of books without
// a subscriber it stores only the numbers, while any book has one.
func (p *publisher) depthUpdates(us []index.Update) []push {
	if !p.hub.table.followed() {
		p.resetBooks()
		return nil
	}
	var list []push
	for symbol, d := range newestDepths(us) {
		book, name := p.book(symbol), updatesTopic(symbol)
		before := *book
		book.known, book.asks, book.bids = true, d.Asks, d.Bids
		if !before.known || !p.hub.table.has(name) {
			book.number += uint64(d.changes)
			continue
		}
		update := depthUpdate{symbol: symbol, asks: changedLevels(before.asks, d.Asks, 1), bids: changedLevels(before.bids, d.Bids, -1)}
		if len(update.asks)+len(update.bids) == 0 {
			continue
		}
		book.number += uint64(d.changes)
		update.first, update.last = before.number+1, book.number
		list = append(list, push{topic: name, kind: kindDepthUpdate, payload: update})
	}
	return list
}

// newestDepth is a market's book after a round's updates.
type newestDepth struct {
	index.Depth
	changes int // in the round
}

func newestDepths(us []index.Update) map[string]newestDepth {
	var found map[string]newestDepth
	for _, u := range us {
		for _, d := range u.Depths {
			if found == nil {
				found = map[string]newestDepth{}
			}
			found[d.Symbol] = newestDepth{d, found[d.Symbol].changes + 1}
		}
	}
	return found
}

func (p *publisher) book(symbol string) *bookState {
	b := p.books[symbol]
	if b == nil {
		b = &bookState{number: uint64(p.at)} // above the numbers of any hub before
		p.books[symbol] = b
	}
	return b
}

// resetBooks drops the stored books after lost or unread updates. The numbers continue, so that no
// update seems to follow an earlier one.
func (p *publisher) resetBooks() {
	for _, b := range p.books {
		if b.known {
			*b = bookState{number: b.number + 1}
		}
	}
}

// changedLevels lists the levels that differ from those before, in their order; gone ones with
// quantity 0. up is 1 where prices ascend, -1 where they descend.
func changedLevels(before, after []index.Level, up int) (list []index.Level) {
	for len(before)+len(after) > 0 {
		switch order := up * compareHeads(before, after, up); {
		case order < 0:
			list = append(list, index.Level{Price: before[0].Price, Quantity: "0"})
			before = before[1:]
		case order > 0:
			list = append(list, after[0])
			after = after[1:]
		default:
			if before[0] != after[0] {
				list = append(list, after[0])
			}
			before, after = before[1:], after[1:]
		}
	}
	return list
}

// compareHeads compares the first prices of two lists; the end of a list is beyond every price.
func compareHeads(a, b []index.Level, up int) int {
	switch {
	case len(b) == 0:
		return -up
	case len(a) == 0:
		return up
	}
	return comparePrices(a[0].Price, b[0].Price)
}

// comparePrices compares decimal texts without sign and with equally many decimals, as the prices
// of a market are.
func comparePrices(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// sendSnapshots sends the complete book to new subscribers of its updates; later updates build on
// it. A subscriber with a long queue gets it in a later round. The table is locked.
func (p *publisher) sendSnapshots() {
	var later []*subscription
	for _, sub := range p.hub.table.fresh {
		entries, bytes := sub.conn.queued()
		switch {
		case sub.conn.subs[subKey{sub.group.topic.name, sub.shape}] != sub: // it has ended since
		case entries > p.hub.cfg.QueueEntries/2 || bytes > p.hub.cfg.QueueBytes/2:
			later = append(later, sub)
		default:
			sub.fresh = false
			p.give(sub.conn, entry{frames: p.snapshot(sub)})
		}
	}
	p.hub.table.fresh = later
}

// snapshot returns a subscriber's first frame: the same book that all its subscribers have. It is
// empty for a removed market.
func (p *publisher) snapshot(sub *subscription) []byte {
	symbol := sub.group.topic.symbol
	book := p.book(symbol)
	if !book.known {
		d, err := p.hub.books.Depth(symbol, index.MaxDepth, nil)
		book.known, book.asks, book.bids = err == nil, d.Asks, d.Bids
	}
	all := depthUpdate{symbol: symbol, first: book.number, last: book.number, snapshot: true, asks: book.asks, bids: book.bids}
	b := bundle{group: sub.group, push: push{topic: sub.group.topic.name, kind: kindDepthUpdate}, payloads: []payload{all}}
	if sub.shape == binaryShape {
		return appendBinaryPush(nil, sub.clientID, appendBinaryBody(nil, b.topic, all.appendProto(nil)))
	}
	return p.text(b, sub.shape)
}
