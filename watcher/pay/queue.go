package pay

import (
	"context"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
)

// MaxGroup bounds what one step of the payer takes at a time.
const MaxGroup = 256

// LowShare is the part of an account's slots that refunds and receives may take: one in so many.
const LowShare = 4

// queue contains an account's pending payments that may leave, by class and asset, each list in the
// order of service.
type queue map[records.Class]map[chain.Asset][]records.Payment

// all is every payment of the queue.
func (q queue) all() (list []records.Payment) {
	for _, assets := range q {
		for _, some := range assets {
			list = append(list, some...)
		}
	}
	return list
}

// readQueue reads of each class and asset as much as there may be room for, without what is stepped
// over.
func (p *payer) readQueue(tx *records.Tx, a records.Account, room int, over map[uint64]uint64) (queue, error) {
	q, gate := queue{}, newGate(tx)
	for _, class := range []records.Class{records.ClassUser, records.ClassRefund, records.ClassReceive} {
		assets, err := tx.Payments().QueuedAssets(p.id, a.Account, class)
		if err != nil {
			return nil, err
		}
		q[class] = map[chain.Asset][]records.Payment{}
		for _, asset := range assets {
			if q[class][asset], err = p.readAsset(tx, gate, a, class, asset, batchingOf(p, a).atOnce(asset, room), over); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

func (p *payer) readAsset(tx *records.Tx, gate *gate, a records.Account, class records.Class, asset chain.Asset, room int, over map[uint64]uint64) ([]records.Payment, error) {
	closed, err := p.closedTokens(gate, a.Network, class, asset)
	if err != nil {
		return nil, err
	}
	list, err := tx.Payments().Queued(p.id, a.Account, class, asset, room+len(over), closed...)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(q records.Payment) bool { _, ok := over[q.ID]; return ok })
	return gate.open(list[:min(room, len(list))])
}

// closedTokens returns the tokens of an asset whose channel keeps payments of a class back. The
// queue is read without them, so that they take no place from payments of other tokens of the same
// asset. It returns none when all tokens of the asset are closed: then nothing can be paid in it.
func (p *payer) closedTokens(gate *gate, network string, class records.Class, asset chain.Asset) (closed []string, err error) {
	if class == records.ClassReceive {
		return nil, nil
	}
	credited, refunded := records.Withdrawal, records.Deposit
	tokens, source := p.tokensOf(network, asset)
	if !source {
		credited, refunded = refunded, credited
	}
	direction := map[records.Class]records.Direction{records.ClassUser: credited, records.ClassRefund: refunded}[class]
	for _, token := range tokens {
		open, err := gate.isOpen(channelKey{network, token, direction}, class)
		if err != nil {
			return nil, err
		}
		if !open {
			closed = append(closed, token)
		}
	}
	if len(closed) == len(tokens) {
		return nil, nil
	}
	return closed, nil
}

// tokensOf returns a network's tokens that are paid in an asset on the payer's chain, and reports
// whether that is the network's source chain.
func (p *payer) tokensOf(network string, asset chain.Asset) (tokens []string, source bool) {
	for _, n := range p.deps.Networks() {
		if n.Name != network {
			continue
		}
		if p.id == n.Exchange {
			return []string{string(asset)}, false
		}
		for _, t := range n.Tokens {
			if t.Asset == asset {
				tokens = append(tokens, t.TokenID)
			}
		}
	}
	return tokens, true
}

// choose selects the next payments to bind: users' payments first, then refunds and cold money,
// then receives. Receives of an asset that a user's payment waits for go with the users' payments.
// The others get their share and no more, even without competition: on a ledger that links an
// account's blocks a bound payment precedes every later credit. Of an asset whose payouts share
// transactions, there may be more of them than numbers (most).
func choose(ctx context.Context, q queue, t *fundsCheck, unmined []records.OpenSlot, maxUnmined int, most func(asset chain.Asset, free int) int) ([]records.Payment, error) {
	free := min(maxUnmined-len(unmined), MaxGroup)
	room := free
	for asset := range q[records.ClassUser] {
		room = max(room, most(asset, free))
	}
	users, err := t.affordable(ctx, roundRobin(q[records.ClassUser], room))
	if err != nil {
		return nil, err
	}
	wanted, idle := map[chain.Asset][]records.Payment{}, map[chain.Asset][]records.Payment{}
	for asset, list := range q[records.ClassReceive] {
		if t.short[asset] {
			wanted[asset] = list
		} else {
			idle[asset] = list
		}
	}
	others, err := t.affordable(ctx, roundRobin(afterUsers(q, users, room), room))
	if err != nil {
		return nil, err
	}
	first := interleave(users, roundRobin(wanted, room))
	others = append(others, roundRobin(idle, room)...)
	lowSlots := lowBound(maxUnmined)
	if len(first) == 0 {
		lowSlots = max(lowSlots, 1)
	}
	share := min(max(lowSlots-LowUnmined(unmined), 0), len(others), free)
	return append(first[:min(len(first), room-share)], others[:share]...), nil
}

// lowBound bounds the slots of refunds and receives. An account of one slot serves users first.
func lowBound(maxUnmined int) int {
	if maxUnmined < 2 {
		return 0
	}
	return max(1, maxUnmined/LowShare)
}

func LowUnmined(unmined []records.OpenSlot) (n int) {
	for _, s := range unmined {
		if records.ClassOf(s.Payment.Purpose) != records.ClassUser {
			n++
		}
	}
	return n
}

// roundRobin takes one of each asset after the other, up to room.
func roundRobin(lists map[chain.Asset][]records.Payment, room int) (out []records.Payment) {
	assets := make([]chain.Asset, 0, len(lists))
	for asset := range lists {
		assets = append(assets, asset)
	}
	slices.Sort(assets)
	for i := 0; len(out) < room; i++ {
		before := len(out)
		for _, asset := range assets {
			if i < len(lists[asset]) && len(out) < room {
				out = append(out, lists[asset][i])
			}
		}
		if len(out) == before {
			break
		}
	}
	return out
}

// interleave takes one of a and one of b in turn.
func interleave(a, b []records.Payment) []records.Payment {
	out := make([]records.Payment, 0, len(a)+len(b))
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			out = append(out, a[i])
		}
		if i < len(b) {
			out = append(out, b[i])
		}
	}
	return out
}

// gate asks the channels of payments, each once in a transaction: credits need an OPEN one, refunds
// and cold money only need no automatic stop.
type gate struct {
	tx        *records.Tx
	transfers map[uint64]records.Transfer
	halted    map[chain.ID]bool
	channels  map[channelKey]records.Channel
}

type channelKey struct {
	network, token string
	direction      records.Direction
}

func newGate(tx *records.Tx) *gate {
	return &gate{tx: tx, transfers: map[uint64]records.Transfer{}, halted: map[chain.ID]bool{}, channels: map[channelKey]records.Channel{}}
}

// open keeps what may leave.
func (g *gate) open(list []records.Payment) (out []records.Payment, err error) {
	if g.transfers, err = g.tx.Transfers().ByID(records.CausesOf(list)); err != nil {
		return nil, err
	}
	for _, q := range list {
		ok, err := g.mayLeave(q)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, q)
		}
	}
	return out, nil
}

func (g *gate) mayLeave(q records.Payment) (bool, error) {
	if q.Purpose == chain.Cold {
		return g.isOpen(channelKey{q.Network, q.Token, records.Deposit}, records.ClassRefund)
	}
	if q.Purpose != chain.Credit && q.Purpose != chain.Refund {
		return true, nil
	}
	t, err := g.transfer(q.TransferID)
	if err != nil || t.State == records.Seen || t.State == records.Orphaned {
		return false, err
	}
	if halted, err := g.isHalted(t.Chain); err != nil || halted {
		return false, err
	}
	return g.isOpen(channelKey{q.Network, q.Token, t.Direction}, records.ClassOf(q.Purpose))
}

func (g *gate) transfer(id uint64) (records.Transfer, error) {
	if t, ok := g.transfers[id]; ok {
		return t, nil
	}
	return g.tx.Transfers().Get(id)
}

// isOpen reports whether a channel lets payments of a class leave.
func (g *gate) isOpen(k channelKey, class records.Class) (bool, error) {
	c, err := g.channel(k)
	if class == records.ClassRefund {
		return err == nil && c.Automatic == records.ChannelOpen, err
	}
	return err == nil && c.State() == records.ChannelOpen, err
}

func (g *gate) isHalted(id chain.ID) (bool, error) {
	if halted, ok := g.halted[id]; ok {
		return halted, nil
	}
	cur, err := g.tx.Chains().Cursor(id)
	g.halted[id] = cur.Halted
	return cur.Halted, err
}

func (g *gate) channel(k channelKey) (c records.Channel, err error) {
	if c, ok := g.channels[k]; ok {
		return c, nil
	}
	c, err = records.ChannelOf(g.tx, k.network, k.token, k.direction)
	g.channels[k] = c
	return c, err
}

// afterUsers are refunds, and what goes to the cold address unless users' payments of the same
// asset are left over: the money is theirs first.
func afterUsers(q queue, users []records.Payment, room int) map[chain.Asset][]records.Payment {
	out := map[chain.Asset][]records.Payment{}
	for asset, list := range q[records.ClassRefund] {
		leaving := 0
		for _, u := range users {
			if u.Asset == asset {
				leaving++
			}
		}
		waiting := len(q[records.ClassUser][asset])
		if waiting > leaving || waiting >= room {
			list = slices.DeleteFunc(slices.Clone(list), func(p records.Payment) bool { return p.Purpose == chain.Cold })
		}
		out[asset] = list
	}
	return out
}
