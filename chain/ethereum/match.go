package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// maxUnbridged bounds the reported transfers of unbridged tokens per block: outsiders can write
// such events by the thousand, and they only go to a list for people.
const maxUnbridged = 100

// Block returns the block at a height with all transfers to us and all our own transactions in it.
//
// References: "<tx>:val" for the value of the transaction itself, "<tx>:log:<n>" for the n-th log
// of the transaction, "<tx>:call:<path>" for a call inside it, "<tx>:fail" for a failed transaction
// that would have paid us (failed_transactions.go). From the Amsterdam fork on, internal native
// transfers are read from the protocol's own logs (EIP-7708), before it from traces. A token is
// credited by its event: a fee-on-transfer token's event contains the received amount. Transfers of
// tokens that are not configured are reported with their contract as asset, at most 100 of a block.
//
// With several nodes the hash must be that of a majority; the contents are taken from any of them,
// proven. Exceptions are blocks with transactions of unknown types: those are taken as a majority
// shows them (unknown_type.go). A node that cannot show the block is skipped. chain.ErrNotFound and
// chain.ErrUnavailable are as the port has them.
func (c *Chain) Block(ctx context.Context, height uint64) (chain.Block, error) {
	c = c.current()
	if c.addresses == nil {
		return chain.Block{}, fmt.Errorf("reading block %d: our addresses are not configured", height)
	}
	nodes, want := c.nodes, (*common.Hash)(nil)
	if len(c.nodes) > 1 {
		ref, having, err := c.agreeAt(ctx, height)
		if err != nil {
			return chain.Block{}, err
		}
		nodes, want = quorum.Order(having), ref.Hash
	}
	var faults []error
	for _, n := range nodes {
		b, err := c.read(ctx, n, height, want)
		if err != nil {
			faults = append(faults, n.blame(err))
			continue
		}
		n.denials.end()
		if b.unknown && len(c.nodes) > 1 {
			if b, err = c.voted(ctx, nodes, height, want); err != nil {
				return chain.Block{}, fmt.Errorf("reading block %d: %w", height, err)
			}
		}
		found, err := c.search(ctx, b)
		if !errors.Is(err, errLie) {
			return found, err
		}
		faults = append(faults, n.blame(fmt.Errorf("%s: block %d: %w", n.name, height, err)))
	}
	if len(c.nodes) == 1 && (errors.Is(faults[0], chain.ErrNotFound) || classify(faults[0]) == verdictUnknownBlock) {
		return chain.Block{}, fmt.Errorf("block %d: %w", height, chain.ErrNotFound)
	}
	return chain.Block{}, fmt.Errorf("reading block %d: %w", height, unavailable(faults))
}

// blame counts an answer about a block that the node itself has shown to be wrong. Either its parts
// do not fit together, or the node refuses a block that it has just named, for longer than the
// machines of a pool need to get it. It returns err.
func (n *node) blame(err error) error {
	var refusal rpc.Error
	v := classify(err)
	denied := errors.Is(err, chain.ErrNotFound) || errors.Is(err, errNoReceipts) || errors.As(err, &refusal) && (v == verdictUnknownBlock || v == verdictOther)
	if errors.Is(err, errLie) || denied && !n.only && n.denials.last(time.Now()) {
		n.RecordWrong("block", err)
	}
	return err
}

// briefDenial is the time for which a node may refuse blocks that it has named before that counts
// as wrong.
const briefDenial = 3 * time.Second

// denials remembers since when a node has refused blocks that it has named.
type denials struct {
	mu    sync.Mutex
	since time.Time // zero: it gave the last block that it was asked for
}

// last records a refusal, and reports whether they have lasted.
func (d *denials) last(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.since.IsZero() {
		d.since = now
	}
	return now.Sub(d.since) >= briefDenial
}

func (d *denials) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = time.Time{}
}

// errLie marks a part of a block that contradicts its roots.
var errLie = errors.New("the node's answer contradicts itself")

// search finds what concerns us in a block.
func (c *Chain) search(ctx context.Context, b *block) (chain.Block, error) {
	calls, tracing, err := c.internals(ctx, b)
	if err != nil {
		return chain.Block{}, err
	}
	ours, err := c.oursOf(ctx, c.candidates(b, calls))
	if err != nil {
		return chain.Block{}, fmt.Errorf("block %d: asking which addresses are ours: %w", b.number, err)
	}
	s := &searcher{chain: c, block: b, ours: ours}
	hits, err := calls.decide(func(m internal) bool { return s.incoming(m.movement) })
	if err != nil {
		return chain.Block{}, fmt.Errorf("block %d: %w", b.number, unavailable([]error{err}))
	}
	s.hits, s.failedTokens = hits, s.fundedAttempts(ctx)
	for i := range b.txs {
		if err := s.transaction(i); err != nil {
			return chain.Block{}, fmt.Errorf("%w: %w", errLie, err)
		}
	}
	s.markSilent(ctx)
	return chain.Block{
		Point: b.point(), Parent: b.parent.Hex(), Time: b.time, Transfers: s.transfers, OwnTxs: s.ownTxs, Tracing: tracing,
	}, nil
}

// candidates are all addresses of a block that could be ours and matter.
func (c *Chain) candidates(b *block, calls traceVotes) map[common.Address]bool {
	found := make(map[common.Address]bool, 4*len(b.txs))
	for i := range b.txs {
		t := &b.txs[i]
		found[t.from] = true
		if t.to != nil && !t.value.IsZero() {
			found[*t.to] = true
		}
		if m, ok := c.failedToken(t); ok {
			found[m.to] = true
		}
		for _, l := range t.logs {
			if m, ok := readTransferLog(l.Topics, l.Data); ok {
				found[m.from], found[m.to] = true, true
			}
		}
	}
	for _, vote := range calls.votes {
		for _, m := range vote.moves {
			found[m.from], found[m.to] = true, true
		}
	}
	return found
}

// oursOf leaves of the candidates those that are ours.
func (c *Chain) oursOf(ctx context.Context, candidates map[common.Address]bool) (map[common.Address]bool, error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	texts := make([]string, 0, len(candidates))
	for address := range candidates {
		texts = append(texts, address.Hex())
	}
	answer, err := c.addresses.Owned(ctx, c.config.ID, texts)
	if err != nil {
		return nil, err
	}
	ours := make(map[common.Address]bool)
	for text, is := range answer {
		if is {
			ours[common.HexToAddress(text)] = true
		}
	}
	return ours, nil
}

// searcher goes through one block.
type searcher struct {
	chain        *Chain
	block        *block
	ours         map[common.Address]bool
	hits         []internal       // movements inside transactions that are transfers to us
	failedTokens map[int]movement // failed token payments to us, by transaction
	unbridged    int
	transfers    []chain.Transfer
	ownTxs       []chain.OwnTx
	ownAt        []int // which transaction of the block each own one is
}

// incoming reports whether a movement comes to us from another party.
func (s *searcher) incoming(m movement) bool {
	return s.ours[m.to] && !s.ours[m.from] && !m.amount.IsZero()
}

// transaction reports one transaction's effects for us. The sender of every report is proven, and a
// possible payment of ours is not skipped because a node names another sender.
func (s *searcher) transaction(i int) error {
	t := &s.block.txs[i]
	before, batch := len(s.transfers), s.batch(t)
	if t.ok {
		s.value(t)
		s.logs(t, batch)
		s.calls(t, i, batch)
	} else {
		s.failure(t, i)
	}
	mine := s.ours[t.from]
	if !mine && len(s.transfers) == before && !s.chain.disguised(t) {
		return nil
	}
	if err := s.chain.checkSender(t); err != nil {
		return err
	}
	if mine {
		return s.ownTx(t, i, batch)
	}
	return nil
}

// report adds a transfer; place is the part of the reference after the transaction.
func (s *searcher) report(t *transaction, place string, asset chain.Asset, m movement, memo chain.Memo) {
	tx := t.hash().Hex()
	s.transfers = append(s.transfers, chain.Transfer{
		Ref: tx + ":" + place, Tx: tx, From: m.from.Hex(), To: m.to.Hex(),
		Asset: asset, Amount: chain.AmountOf(&m.amount), Memo: memo, Failed: !t.ok,
	})
}

// value reports the transaction's own native value. All of its data is the memo.
func (s *searcher) value(t *transaction) {
	if m, ok := t.movement(); ok && s.incoming(m) {
		s.report(t, "val", chain.Native, m, readMemo(t.input))
	}
}

// movement is the transaction's own value on its way.
func (t *transaction) movement() (movement, bool) {
	if t.to == nil {
		return movement{}, false
	}
	return movement{t.from, *t.to, *t.value}, true
}

// logs reports tokens, and native coin where the protocol logs it.
func (s *searcher) logs(t *transaction, batch *ownBatch) {
	own := t.ownLog()
	for n, l := range t.logs {
		m, ok := readTransferLog(l.Topics, l.Data)
		if !ok || !s.incoming(m) {
			continue
		}
		place := "log:" + strconv.Itoa(n)
		switch {
		case isNativeLog(l.Address):
			if s.block.nativeLogs && n != own && !batch.isReturn(m) {
				s.report(t, place, chain.Native, m, readMemo(nil))
			}
		case s.chain.isToken(l.Address):
			s.report(t, place, assetOf(l.Address), m, t.tokenMemo(l.Address, m))
		case s.unbridged < maxUnbridged:
			s.unbridged++
			s.report(t, place, assetOf(l.Address), m, t.tokenMemo(l.Address, m))
		}
	}
}

// ownLog is the ordinal of the protocol's log of the transaction's own value, which is reported by
// value already: the first with equal content. A transaction that pays an account of ours directly
// runs no code there, so it has no second one. -1 if there is none.
func (t *transaction) ownLog() int {
	own, ok := t.movement()
	return slices.IndexFunc(t.logs, func(l wireLog) bool {
		m, is := readTransferLog(l.Topics, l.Data)
		return ok && is && isNativeLog(l.Address) && m == own
	})
}

// tokenMemo returns the bytes after the arguments of a direct call of the token's transfer. Inside
// other calls the owner of such bytes is unknown.
func (t *transaction) tokenMemo(token common.Address, m movement) chain.Memo {
	asked, extra, ok := readTransferCall(t.input)
	if !ok || t.to == nil || *t.to != token || t.from != m.from || asked.to != m.to {
		return readMemo(nil)
	}
	return readMemo(extra)
}

// calls reports native coin that contracts sent, from traces.
func (s *searcher) calls(t *transaction, i int, batch *ownBatch) {
	for _, m := range s.hits {
		if m.tx == i && !batch.isReturnCall(m) {
			s.report(t, "call:"+m.path, chain.Native, m.movement, readMemo(nil))
		}
	}
}

// ownTx reports a transaction of ours.
func (s *searcher) ownTx(t *transaction, i int, batch *ownBatch) error {
	fee, err := t.fee()
	if err != nil {
		return err
	}
	s.chain.recordGasUse(t)
	e := chain.OwnTx{Account: t.from.Hex(), Number: t.nonce, Tx: t.hash().Hex(), OK: t.didAsAsked(), Void: !t.ok || !t.approved(), Fee: fee}
	if m, ok := t.movement(); ok && t.ok && !m.amount.IsZero() {
		e.To, e.Value = m.to.Hex(), chain.AmountOf(&m.amount)
	}
	if batch != nil {
		batch.report(t, &e)
	}
	s.ownTxs, s.ownAt = append(s.ownTxs, e), append(s.ownAt, i)
	return nil
}

// didAsAsked reports whether a transaction did what its fields request: it succeeded and, if it is
// a token payment, the token wrote exactly its event.
func (t *transaction) didAsAsked() bool {
	want, _, isToken := readTransferCall(t.input)
	if !t.ok || t.to == nil || !isToken {
		return t.ok && t.approved()
	}
	want.from = t.from
	for _, l := range t.logs {
		if m, ok := readTransferLog(l.Topics, l.Data); ok && l.Address == *t.to && m == want {
			return true
		}
	}
	return false
}
