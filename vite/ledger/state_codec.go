package ledger

import (
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// stateImage is everything that a later block can depend on, as a state file has it. What follows
// from it (indexes, sums) is left out, and so are the blocks, but for those that no one has
// received.
type stateImage struct {
	_         struct{} `cbor:",toarray"`
	Rollbacks uint64
	Fees      uint256.Int
	Height    uint64 // of the latest snapshot block
	Latest    []byte // as a run
	Tokens    []*TokenInfo
	Stakes    []Stake
	Exchange  Exchange
	Orders    [][]byte // of all books, each side best first
	Accounts  []accountImage
	Pending   []core.Hash
}

type accountImage struct {
	_        struct{} `cbor:",toarray"`
	Address  core.Address
	Balances map[core.TokenID]uint256.Int
	PowAt    uint64
	Usage    []usage
	Using    usage
	Contract *ContractInfo
	Height   uint64 // of the newest block
	Hash     core.Hash
	Sends    []sendImage // that no one has received, by hash
}

type sendImage struct {
	_     struct{} `cbor:",toarray"`
	Entry []byte
	At    Position
}

// In canonical CBOR equal states give equal bytes.
var (
	encoding = func() cbor.EncMode {
		options := cbor.CoreDetEncOptions()
		options.NilContainers = cbor.NilContainerAsEmpty
		mode, err := options.EncMode()
		return must(mode, err)
	}()
	decoding = func() cbor.DecMode {
		const all = 1<<31 - 1 // no limit but that of the data
		mode, err := cbor.DecOptions{MaxArrayElements: all, MaxMapPairs: all}.DecMode()
		return must(mode, err)
	}()
)

func must[T any](v T, err error) T {
	if err != nil {
		panic("ledger: " + err.Error())
	}
	return v
}

// EncodeState returns the complete state as in a state file.
func EncodeState(s *State) []byte {
	latest := &Writer{}
	latest.Run([]*Snapshot{s.Latest()})
	image := stateImage{
		Rollbacks: s.Rollbacks, Fees: s.Fees, Height: s.Height(), Latest: latest.Data, Exchange: s.Exchange, Orders: s.Exchange.orders(),
	}
	for _, id := range SortedTokens(s.Tokens) {
		image.Tokens = append(image.Tokens, s.Tokens[id])
	}
	for _, a := range s.Addresses() {
		image.Stakes = append(image.Stakes, s.Stakes[a]...)
		image.Accounts = append(image.Accounts, s.Accounts[a].image())
	}
	for _, e := range s.Pending {
		image.Pending = append(image.Pending, e.Block.Hash)
	}
	return must(encoding.Marshal(&image))
}

func (a *Account) image() accountImage {
	image := accountImage{
		Address: a.address, Balances: a.Balances, PowAt: a.PowAt, Usage: a.Usage, Using: a.Using, Contract: a.Contract,
		Height: a.Blocks.Head.Height, Hash: a.Blocks.Head.Hash,
	}
	a.Unreceived.Scan(func(e *Entry) bool {
		own, w := *e, &Writer{}
		if e.Snapshot == nil {
			own.Snapshot = &Snapshot{} // zero while there is none
		}
		w.Entry(&own)
		image.Sends = append(image.Sends, sendImage{Entry: w.Data, At: e.At})
		return true
	})
	return image
}

// orders are those of all books.
func (e *Exchange) orders() (list [][]byte) {
	for id := range uint32(len(e.Markets)) {
		for _, side := range []dex.Side{dex.Buy, dex.Sell} {
			e.Books[id+1].Walk(side, func(o *dex.Order) bool {
				list = append(list, dex.EncodeOrder(o))
				return true
			})
		}
	}
	return list
}

// DecodeState rebuilds a state from what EncodeState has made of it, with what follows from it; nil
// for anything else. The journal starts empty.
func DecodeState(data []byte, r Rules) *State {
	image := stateImage{Exchange: newExchange()}
	if err := decoding.Unmarshal(data, &image); err != nil {
		return nil
	}
	s := emptyState(r)
	s.Rollbacks, s.Fees, s.Exchange = image.Rollbacks, image.Fees, image.Exchange
	latest := &Reader{Data: image.Latest}
	s.Chain = latest.Run(image.Height, r.Sealing())
	if latest.Err != nil || len(s.Chain) != 1 || image.Height == 0 {
		return nil
	}
	s.Snapshots[s.Latest().Hash] = s.Latest()
	for _, t := range image.Tokens {
		if t == nil || t.Index > MaxTokenIndex {
			return nil
		}
		s.Tokens[t.ID] = t
		s.Symbols[t.Symbol] = max(s.Symbols[t.Symbol], t.Index+1)
	}
	for _, k := range image.Stakes {
		s.addStake(k)
	}
	if !s.Exchange.rebuild(image.Orders) || !s.openAccounts(image.Accounts, image.Pending) {
		return nil
	}
	s.journal, s.Floor = journal{}, s.Height()
	return s
}

// openAccounts makes the accounts, of which a stake may have made some already, and what waits for
// contracts.
func (s *State) openAccounts(images []accountImage, pending []core.Hash) bool {
	for _, image := range images {
		a := s.account(image.Address)
		if image.Balances != nil {
			a.Balances = image.Balances
		}
		a.PowAt, a.Usage, a.Using, a.Contract = image.PowAt, image.Usage, image.Using, image.Contract
		a.Blocks.Head = BlockID{image.Height, image.Hash}
		if c := a.Contract; c != nil && len(c.Code) == 0 {
			c.Code = nil
		}
		for _, send := range image.Sends {
			e := send.entry()
			if e == nil {
				return false
			}
			s.Blocks[e.Block.Hash] = e
			a.Unreceived.Set(e)
		}
	}
	for _, h := range pending {
		if s.Blocks[h] == nil {
			return false
		}
		s.Pending = append(s.Pending, s.Blocks[h])
	}
	return true
}

// entry is nil for what is no send that waits.
func (i *sendImage) entry() *Entry {
	r := &Reader{Data: i.Entry}
	e := r.Entry()
	if r.Err != nil || len(r.Data) > 0 || !e.Block.IsSend() || e.Send != nil || len(e.Triggered) > 0 {
		return nil
	}
	if e.Snapshot.Height == 0 {
		e.Snapshot = nil
	}
	e.At = i.At
	return e
}

// rebuild makes what follows from the rest; false if that does not fit together.
func (e *Exchange) rebuild(orders [][]byte) bool {
	for id := range uint32(len(e.Markets)) {
		m, known := e.Markets[id+1]
		scale, err := dex.NewScale(m.TradeDecimals, m.QuoteDecimals)
		if !known || m.ID != id+1 || err != nil {
			return false
		}
		e.pairs[pair{m.Trade, m.Quote}], e.Books[m.ID] = m.ID, dex.NewBook(scale)
	}
	for _, data := range orders {
		o, err := dex.DecodeOrder(data)
		if err != nil || o.Ended() || e.Books[o.ID.Market()] == nil || e.Books[o.ID.Market()].Put(&o) != nil {
			return false
		}
	}
	for id, k := range e.FeeStakes {
		e.Vips[k.Vip] = id
	}
	for a, code := range e.Codes {
		e.owners[code] = a
	}
	return true
}

func SortedTokens[V any](m map[core.TokenID]V) []core.TokenID {
	ids := make([]core.TokenID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareTokens)
	return ids
}
