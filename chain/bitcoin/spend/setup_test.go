package spend

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/wallet"
)

const mnemonic = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

// env is two accounts of real keys, of P2WPKH and of P2TR, with coins that no chain has.
type env struct {
	t        require.TestingT
	net      *network.Network
	keys     *wallet.Keys
	accounts []network.Account
	made     map[chainhash.Hash]*wire.MsgTx
	serial   uint32
	*Builder
	rules *Rules
}

var _ chain.Rules = (*Rules)(nil)

// sharedKeys derive once: a seed takes 2,048 rounds.
func sharedKeys(t require.TestingT) *wallet.Keys {
	keys, err := wallet.FromMnemonic(mnemonic)
	require.NoError(t, err)
	return keys
}

func setup(t require.TestingT, keys *wallet.Keys) *env {
	w := &env{t: t, net: network.Named("litecoin-regtest"), keys: keys, made: map[chainhash.Hash]*wire.MsgTx{}}
	for _, path := range []string{"m/84'/1'/0'", "m/86'/1'/0'"} {
		key, err := keys.AccountKey(path)
		require.NoError(t, err)
		account, err := w.net.NewAccount(path, key)
		require.NoError(t, err)
		w.accounts = append(w.accounts, account)
	}
	limits := Limits{Relay: 1_000, MaxRate: 500_000, MaxFee: 50_000_000, MaxCoins: 50, Cheap: 5_000}
	w.Builder = &Builder{w.net, limits}
	w.rules = NewRules(w.net, w.accounts, limits)
	return w
}

func newEnv(t *testing.T) *env { return setup(t, sharedKeys(t)) }

func (w *env) own(kind network.Kind, branch, index uint32) network.Own {
	account := w.accounts[0]
	if kind == network.P2TR {
		account = w.accounts[1]
	}
	own, err := account.Own(branch, index)
	require.NoError(w.t, err)
	return own
}

// coin is an output of a new transaction that pays an address of ours.
func (w *env) coin(own network.Own, amount int64, height uint64) Coin {
	w.serial++
	tx := wire.NewMsgTx(2)
	tx.LockTime = w.serial
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}}, nil, wire.TxWitness{{1, 2, 3}}))
	for range w.serial % 3 {
		tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	}
	tx.AddTxOut(wire.NewTxOut(amount, own.Script))
	w.made[tx.TxHash()] = tx
	return Coin{Outpoint: wire.OutPoint{Hash: tx.TxHash(), Index: w.serial % 3}, Amount: amount, Own: own, Height: height}
}

// funds are an anchor with others, and change of a kind.
func (w *env) funds(change network.Kind, anchor Coin, others ...Coin) Funds {
	return Funds{Anchor: anchor, Others: others, Change: w.own(change, network.Internal, 9), Height: 1_000}
}

func (w *env) previous(hash chainhash.Hash) (*wire.MsgTx, error) {
	if tx := w.made[hash]; tx != nil {
		return tx, nil
	}
	return nil, fmt.Errorf("no transaction %s", hash)
}

// payee is an address of a kind that is not ours.
func (w *env) payee(kind network.Kind, n byte) string {
	size := 20
	if kind == network.P2WSH || kind == network.P2TR {
		size = 32
	}
	a, err := w.net.Make(kind, bytes.Repeat([]byte{n}, size))
	require.NoError(w.t, err)
	return a.Text
}

func (w *env) pay(id uint64, to string, amount int64) chain.Payment {
	return chain.Payment{ID: id, Purpose: chain.Credit, Asset: chain.Native, To: to, Amount: chain.NewAmount(uint64(amount))}
}

// merge is the payment of a draft that brings coins together.
func merge(d Draft, source string) chain.Payment {
	return chain.Payment{ID: 7, Purpose: chain.Merge, Asset: chain.Native, To: d.Change.Text, Source: source}
}

func batch(pays ...chain.Payment) chain.Payment {
	all := chain.Payment{Purpose: chain.Batch, Asset: chain.Native, Members: pays}
	for _, p := range pays {
		all.Amount, _ = all.Amount.Add(p.Amount)
	}
	return all
}

// order is a draft as the signer gets it.
func (w *env) order(d Draft, pay chain.Payment) chain.Order {
	raw, err := d.PSBT(w.previous)
	require.NoError(w.t, err)
	return chain.Order{Slot: chain.Slot{Coin: d.Coins[0].Outpoint.String()}, Payment: pay, Unsigned: raw}
}

// sign signs an order by the rules and takes the transaction apart.
func (w *env) sign(d Draft, pay chain.Payment) (Draft, *wire.MsgTx) {
	o := w.order(d, pay)
	digests, err := w.rules.Digests(o)
	require.NoError(w.t, err)
	signatures := make([]chain.Signature, len(digests))
	for i, digest := range digests {
		signatures[i].Public, signatures[i].Bytes, err = w.keys.Sign(context.Background(), digest.Key, digest.Hash)
		require.NoError(w.t, err)
	}
	sealed, err := w.rules.Seal(o, signatures...)
	require.NoError(w.t, err)
	var tx wire.MsgTx
	require.NoError(w.t, tx.Deserialize(bytes.NewReader(sealed.Raw)))
	require.Equal(w.t, sealed.Hash, tx.TxHash().String())
	w.made[tx.TxHash()] = &tx
	signed, err := ReadDraft(sealed.Raw, d.Coins)
	require.NoError(w.t, err)
	require.Equal(w.t, d.Fee, signed.Fee)
	return signed, &tx
}

// change is the change of a signed draft as a coin in no block.
func change(d Draft, tx *wire.MsgTx) Coin {
	last := len(tx.TxOut) - 1
	return Coin{Outpoint: wire.OutPoint{Hash: tx.TxHash(), Index: uint32(last)}, Amount: tx.TxOut[last].Value, Own: *d.Change}
}

// altered is an order whose transaction was changed.
func altered(t require.TestingT, o chain.Order, alter func(*psbt.Packet)) chain.Order {
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(o.Unsigned), false)
	require.NoError(t, err)
	alter(packet)
	// the parts of outputs that were added or removed
	for len(packet.Outputs) < len(packet.UnsignedTx.TxOut) {
		packet.Outputs = append(packet.Outputs, psbt.POutput{})
	}
	packet.Outputs = packet.Outputs[:len(packet.UnsignedTx.TxOut)]
	var raw bytes.Buffer
	require.NoError(t, packet.Serialize(&raw))
	o.Unsigned = raw.Bytes()
	return o
}
