package chaintest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"gatewayd/chain"
)

// maxRaw bounds what Broadcast decodes.
const maxRaw = 1 << 16

// zeroHash is the predecessor of a linked account's first block.
const zeroHash = "0000000000000000000000000000000000000000000000000000000000000000"

// Out is one movement of value that an outside user makes.
type Out struct {
	From   string
	To     string
	Asset  chain.Asset
	Amount chain.Amount
	Memo   chain.Memo
	Failed bool // nonce ledger: a block includes the transaction, which moves nothing
	Hidden bool // nonce ledger: only balances show it, as coin that a contract sent where no node traces
	Taken  bool // nonce ledger: hidden, and it leaves To for nowhere
}

// tx is a transaction or account block. One of ours has the Key of its account. An outsider's has
// Outs and a serial number instead.
type tx struct {
	Chain   chain.ID
	Key     string        `json:",omitempty"`
	Number  uint64        `json:",omitempty"`
	Prev    string        `json:",omitempty"`
	Purpose chain.Purpose `json:",omitempty"`
	Payment uint64        `json:",omitempty"`
	Asset   chain.Asset   `json:",omitempty"`
	To      string        `json:",omitempty"`
	Amount  chain.Amount
	Label   string   `json:",omitempty"`
	Source  string   `json:",omitempty"`
	Members []member `json:",omitempty"` // of a batch
	Tip     chain.Amount
	Cap     chain.Amount
	Serial  uint64   `json:",omitempty"`
	Outs    []Out    `json:",omitempty"`
	Spends  []spend  `json:",omitempty"` // ledger of coins
	Change  []uint64 `json:",omitempty"` // ledger of coins: back to the account, behind the payments
	Matures uint64   `json:",omitempty"` // of a block's reward: the least height of a block that may spend it
	Signed  bool     `json:",omitempty"` // not part of the hash

	parentSize, parentFee uint64 // of a merge that pays for another one too, while it is drafted

	hash    string // of the encoding; set by seal and decode
	account string // derived from Chain and Key; empty for an outsider's
}

// member is one payment of a batch.
type member struct {
	Payment uint64
	To      string
	Amount  chain.Amount
}

// seal fixes the transaction and answers its bytes.
func (t *tx) seal() ([]byte, error) {
	raw, err := t.bare()
	if err != nil {
		return nil, err
	}
	t.hash = digest(string(raw))
	if t.Key != "" {
		t.account = Address(t.Chain, t.Key)
	}
	if !t.Signed {
		return raw, nil
	}
	return json.Marshal(t)
}

// bare is the transaction without its signature, which its hash covers.
func (t *tx) bare() ([]byte, error) {
	unsigned := *t
	unsigned.Signed = false
	raw, err := json.Marshal(&unsigned)
	if err != nil {
		return nil, fmt.Errorf("encoding a transaction: %w", err)
	}
	return raw, nil
}

// decode reads what seal wrote.
func decode(raw []byte) (*tx, error) {
	if len(raw) > maxRaw {
		return nil, fmt.Errorf("transaction of %d bytes: at most %d", len(raw), maxRaw)
	}
	t := new(tx)
	if err := json.Unmarshal(raw, t); err != nil {
		return nil, fmt.Errorf("decoding a transaction: %w", err)
	}
	if t.Key == "" || len(t.Outs) > 0 {
		return nil, errors.New("decoding a transaction: of no account of ours")
	}
	_, err := t.seal()
	return t, err
}

// cost is the most native coin the transaction may take from its sender.
func (t *tx) cost() (chain.Amount, error) {
	fee, err := t.Cap.Mul(gas)
	if err != nil || t.Asset != chain.Native {
		return fee, err
	}
	return fee.Add(t.Amount)
}

// outranks reports whether t replaces old in the pool: a tenth more on both fees, as go-ethereum's
// pool asks.
func (t *tx) outranks(old *tx) bool {
	return atLeast(t.Tip, old.Tip, 11, 10) && atLeast(t.Cap, old.Cap, 11, 10)
}

// atLeast reports whether a >= b*k/d.
func atLeast(a, b chain.Amount, k, d uint64) bool {
	l, errL := a.Mul(d)
	r, errR := b.Mul(k)
	return errL == nil && errR == nil && !l.Less(r)
}

// Address is the account of a key on a ledger.
func Address(id chain.ID, key string) string {
	return addressPrefix(id) + digest(string(id), key)[:40]
}

func addressPrefix(id chain.ID) string { return string(id) + "_" }

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
