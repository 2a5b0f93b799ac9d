package spend

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// Rules decide which transactions may be signed: those that spend the slot's coin and others of
// ours, pay exactly the payees of their payments, return the change to us, and take a fee under the
// ceilings. They believe nothing of an order but what the transactions in it prove. They are safe
// for concurrent use.
type Rules struct {
	network  *network.Network
	accounts []network.Account // all that have coins, those of successors too
	limits   Limits
	maxRate  atomic.Int64 // in place of that in limits
}

// NewRules are the rules of accounts on a network.
func NewRules(n *network.Network, accounts []network.Account, limits Limits) *Rules {
	r := &Rules{network: n, accounts: accounts, limits: limits}
	r.maxRate.Store(int64(limits.MaxRate))
	return r
}

// Limits are those of now.
func (r *Rules) Limits() Limits {
	l := r.limits
	l.MaxRate = Rate(r.maxRate.Load())
	return l
}

// SetMaxFee sets the highest rate of a transaction from the next call on, in satoshi per vbyte.
func (r *Rules) SetMaxFee(perVbyte string) error {
	rate, err := strconv.ParseUint(perVbyte, 10, 31)
	if err != nil || rate == 0 {
		return fmt.Errorf("max_fee_rate: %q: must be satoshi per vbyte", perVbyte)
	}
	r.maxRate.Store(int64(rate) * 1_000)
	return nil
}

// proven is an order's transaction with what is proven of it.
type proven struct {
	tx     *wire.MsgTx
	inputs []network.Own
	spent  map[wire.OutPoint]*wire.TxOut
	change bool
	fee    int64
	size   int64 // vbytes, at most
}

// Digests returns the hash to sign of each input, by BIP-143 or BIP-341, and the path of its key.
// Any transaction that is not exactly the order's is an error that names the field.
func (r *Rules) Digests(o chain.Order) ([]chain.Digest, error) {
	p, err := r.prove(o)
	if err != nil {
		return nil, err
	}
	return p.digests()
}

func (p *proven) digests() (list []chain.Digest, err error) {
	hashes := txscript.NewTxSigHashes(p.tx, p.fetcher())
	list = make([]chain.Digest, len(p.inputs))
	for i, own := range p.inputs {
		list[i].Key = own.Path
		if own.Kind == network.P2TR {
			list[i].Hash, err = txscript.CalcTaprootSignatureHash(hashes, txscript.SigHashDefault, p.tx, i, p.fetcher())
		} else {
			list[i].Hash, err = txscript.CalcWitnessSigHash(own.Script, hashes, txscript.SigHashAll, p.tx, i, p.spentBy(i).Value)
		}
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	return list, nil
}

// Fee returns the fee of the order's transaction.
func (r *Rules) Fee(o chain.Order) (chain.Amount, error) {
	p, err := r.prove(o)
	if err != nil {
		return chain.Amount{}, err
	}
	return chain.NewAmount(uint64(p.fee)), nil
}

// Coins are the outputs that an order's transaction spends, the slot's first.
func (r *Rules) Coins(o chain.Order) ([]string, error) {
	p, err := r.prove(o)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(p.tx.TxIn))
	for i, in := range p.tx.TxIn {
		list[i] = in.PreviousOutPoint.String()
	}
	return list, nil
}

// CheckAddress returns the canonical form of a payable address. There are no labels.
func (r *Rules) CheckAddress(text, label string) (string, error) {
	a, err := r.network.Parse(text)
	if err == nil && label != "" {
		err = fmt.Errorf("%w: the chain has none", chain.ErrLabel)
	}
	return a.Text, err
}

func (p *proven) spentBy(input int) *wire.TxOut { return p.spent[p.tx.TxIn[input].PreviousOutPoint] }

func (p *proven) fetcher() txscript.PrevOutputFetcher {
	return txscript.NewMultiPrevOutFetcher(p.spent)
}

// prove reads an order's transaction and holds every field of it against the order.
func (r *Rules) prove(o chain.Order) (*proven, error) {
	packet, err := readPSBT(o.Unsigned)
	if err != nil {
		return nil, fmt.Errorf("decoding the transaction: %w", err)
	}
	p := &proven{tx: packet.UnsignedTx, spent: map[wire.OutPoint]*wire.TxOut{}}
	if err := r.checkForm(p.tx, o.Slot); err != nil {
		return nil, err
	}
	for i := range packet.Inputs {
		if err := r.proveInput(p, i, &packet.Inputs[i]); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	if err := r.checkOutputs(p, o.Payment, packet.Outputs); err != nil {
		return nil, err
	}
	return p, r.checkFee(p, o.Payment, p.parentOf(o.Payment, packet.Inputs))
}

func readPSBT(raw []byte) (*psbt.Packet, error) {
	if len(raw) > maxPSBT {
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", len(raw), maxPSBT)
	}
	rest := bytes.NewReader(raw)
	packet, err := psbt.NewFromRawBytes(rest, false)
	if err == nil && rest.Len() > 0 {
		err = fmt.Errorf("%d bytes follow it", rest.Len())
	}
	return packet, err
}

// checkForm holds a transaction's fixed fields and its first coin against the slot.
func (r *Rules) checkForm(tx *wire.MsgTx, slot chain.Slot) error {
	anchor, err := ParseOutpoint(slot.Coin)
	switch {
	case err != nil:
		return err
	case slot.Branch != 0 || slot.Prev != "":
		return errors.New("branch: the ledger links no blocks")
	case tx.Version != txVersion:
		return fmt.Errorf("version: %d, not %d", tx.Version, txVersion)
	case tx.LockTime != txLockTime:
		return fmt.Errorf("lock time: %d, not %d", tx.LockTime, txLockTime)
	case len(tx.TxIn) == 0 || len(tx.TxIn) > r.limits.MaxCoins:
		return fmt.Errorf("inputs: %d, from 1 to %d are allowed", len(tx.TxIn), r.limits.MaxCoins)
	case tx.TxIn[0].PreviousOutPoint != anchor:
		return fmt.Errorf("coin: the transaction spends %s first, not %s", tx.TxIn[0].PreviousOutPoint, anchor)
	}
	return nil
}

// proveInput learns amount and script of an input from the transaction that made it, whose hash
// names it, and derives that the script is ours.
func (r *Rules) proveInput(p *proven, i int, in *psbt.PInput) error {
	asked := p.tx.TxIn[i]
	at := asked.PreviousOutPoint
	switch {
	case asked.Sequence != txSequence:
		return fmt.Errorf("sequence: %#x, not %#x", asked.Sequence, txSequence)
	case in.SighashType != txscript.SigHashDefault && in.SighashType != txscript.SigHashAll:
		return fmt.Errorf("signature hash type: %d, where all is signed", in.SighashType)
	case p.spent[at] != nil:
		return fmt.Errorf("coin: %s is spent twice", at)
	case in.NonWitnessUtxo == nil:
		return fmt.Errorf("amount: nothing proves that of %s", at)
	case in.NonWitnessUtxo.TxHash() != at.Hash:
		return fmt.Errorf("amount: it is of transaction %s, not of %s", in.NonWitnessUtxo.TxHash(), at.Hash)
	case uint64(at.Index) >= uint64(len(in.NonWitnessUtxo.TxOut)):
		return fmt.Errorf("coin: %s has %d outputs", at.Hash, len(in.NonWitnessUtxo.TxOut))
	}
	made := in.NonWitnessUtxo.TxOut[at.Index]
	if made.Value < 0 || made.Value > maxSatoshi {
		return fmt.Errorf("amount: %d satoshi do not exist", made.Value)
	}
	own, err := network.OwnAt(r.accounts, levelsOf(in.Bip32Derivation, in.TaprootBip32Derivation), made.PkScript)
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	p.spent[at], p.inputs = made, append(p.inputs, own)
	return nil
}

// levelsOf is the path that an order names for an input or output, if it names exactly one.
func levelsOf(keys []*psbt.Bip32Derivation, taproot []*psbt.TaprootBip32Derivation) []uint32 {
	switch {
	case len(keys) == 1 && len(taproot) == 0:
		return keys[0].Bip32Path
	case len(keys) == 0 && len(taproot) == 1:
		return taproot[0].Bip32Path
	}
	return nil
}

// maxChange is the number of outputs into which change is divided at most.
const maxChange = 4

// checkOutputs wants the payees in their order, and then change to ourselves alone: none or a few
// outputs. A merge and a cancellation have one output, which is that.
func (r *Rules) checkOutputs(p *proven, pay chain.Payment, outputs []psbt.POutput) error {
	pays, err := members(pay)
	if err != nil {
		return err
	}
	wanted, err := payees(r.network, pays)
	if err != nil {
		return err
	}
	for i, want := range wanted {
		if err := comparePayee(p.tx.TxOut, i, want, pays[i].ID); err != nil {
			return err
		}
	}
	rest := p.tx.TxOut[len(wanted):]
	switch {
	case len(rest) > maxChange, len(rest) > 1 && len(wanted) == 0:
		return fmt.Errorf("output %d: no payment asks for it", len(p.tx.TxOut)-1)
	case len(rest) == 0 && len(wanted) == 0:
		return fmt.Errorf("outputs: none, where a %s returns its coins to us", pay.Purpose)
	case len(rest) == 0:
		return nil
	}
	p.change = true
	for i := range rest {
		if err := r.checkChange(rest[i], &outputs[len(wanted)+i]); err != nil {
			return fmt.Errorf("output %d: change: %w", len(wanted)+i, err)
		}
	}
	if pay.Purpose == chain.Merge {
		return r.checkMerge(rest[0], pay)
	}
	return nil
}

func comparePayee(outputs []*wire.TxOut, i int, want *wire.TxOut, payment uint64) error {
	switch {
	case i >= len(outputs):
		return fmt.Errorf("output %d: payment %d is missing", i, payment)
	case !bytes.Equal(outputs[i].PkScript, want.PkScript):
		return fmt.Errorf("output %d: to: not the payee of payment %d", i, payment)
	case outputs[i].Value != want.Value:
		return fmt.Errorf("output %d: amount: %d, and payment %d is of %d", i, outputs[i].Value, payment, want.Value)
	}
	return nil
}

// checkChange wants an output to the internal branch of an account of ours.
func (r *Rules) checkChange(out *wire.TxOut, output *psbt.POutput) error {
	levels := levelsOf(output.Bip32Derivation, output.TaprootBip32Derivation)
	if _, err := network.OwnAt(r.accounts, levels, out.PkScript); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if branch := levels[len(levels)-2]; branch != network.Internal {
		return fmt.Errorf("to: it is on branch %d, not on %d", branch, network.Internal)
	}
	if least := r.network.Dust(out.PkScript); out.Value < least || out.Value > maxSatoshi {
		return fmt.Errorf("amount: %d satoshi, where nodes relay %d at least", out.Value, least)
	}
	return nil
}

// checkMerge holds the only output of a merge against its payment, which has no amount.
func (r *Rules) checkMerge(out *wire.TxOut, pay chain.Payment) error {
	to, err := r.network.Parse(pay.To)
	switch {
	case err != nil:
		return fmt.Errorf("receiver %q: %w", pay.To, err)
	case !bytes.Equal(to.Script, out.PkScript):
		return fmt.Errorf("output 0: to: not %s", to.Text)
	case pay.Asset != chain.Native || !pay.Amount.IsZero() || pay.Label != "":
		return fmt.Errorf("a merge of %s %s for %q: it has no payee", pay.Amount, pay.Asset, pay.Label)
	}
	return nil
}

// parentOf is the transaction for which a merge may pay too: the one that made its source, if that
// is change of ours.
func (p *proven) parentOf(pay chain.Payment, inputs []psbt.PInput) *wire.MsgTx {
	for i, in := range p.tx.TxIn {
		levels := p.inputs[i].Levels
		if pay.Purpose == chain.Merge && in.PreviousOutPoint.String() == pay.Source && levels[len(levels)-2] == network.Internal {
			return inputs[i].NonWitnessUtxo
		}
	}
	return nil
}

// checkFee computes the fee from the proven amounts and holds it under the ceilings.
func (r *Rules) checkFee(p *proven, pay chain.Payment, parent *wire.MsgTx) error {
	var coins []Coin
	for i, own := range p.inputs {
		coins = append(coins, Coin{Own: own, Amount: p.spentBy(i).Value})
	}
	weight := weightOf(coins, p.tx.TxOut)
	if weight > maxWeight {
		return fmt.Errorf("size: it weighs %d, and nodes relay %d", weight, maxWeight)
	}
	p.size, p.fee = vbytes(weight), total(coins)
	for _, out := range p.tx.TxOut {
		if p.fee -= out.Value; p.fee <= 0 { // checked each time: no sum overflows
			return fmt.Errorf("fee: the inputs of %d satoshi leave none", total(coins))
		}
	}
	return check(p.fee, r.Limits().of(pay).most(r.network, p.size, p.change, parent), pay, p.tx.TxOut)
}

// Seal puts the signatures to the inputs and runs each input's script as nodes do.
func (r *Rules) Seal(o chain.Order, signatures ...chain.Signature) (sealed chain.SignedTx, err error) {
	p, err := r.prove(o)
	if err != nil {
		return sealed, err
	}
	if len(signatures) != len(p.inputs) {
		return sealed, fmt.Errorf("must have %d signatures, not %d", len(p.inputs), len(signatures))
	}
	for i, own := range p.inputs {
		if p.tx.TxIn[i].Witness, err = witness(own, signatures[i]); err != nil {
			return sealed, fmt.Errorf("input %d: %w", i, err)
		}
	}
	hashes := txscript.NewTxSigHashes(p.tx, p.fetcher())
	for i, own := range p.inputs {
		engine, err := txscript.NewEngine(own.Script, p.tx, i, txscript.StandardVerifyFlags, nil, hashes, p.spentBy(i).Value, p.fetcher())
		if err == nil {
			err = engine.Execute()
		}
		if err != nil {
			return sealed, fmt.Errorf("input %d: the signature is not that of %s: %w", i, own.Path, err)
		}
	}
	var raw bytes.Buffer
	if err := p.tx.Serialize(&raw); err != nil {
		return sealed, err
	}
	return chain.SignedTx{Hash: p.tx.TxHash().String(), Raw: raw.Bytes()}, nil
}

// signatureSize is that of a signature of either scheme, as keys return it.
const signatureSize = 64

// witness is the size of the signatures of an input of one of our scripts.
func witness(own network.Own, s chain.Signature) (wire.TxWitness, error) {
	if len(s.Bytes) != signatureSize {
		return nil, fmt.Errorf("the signature has %d bytes, not %d", len(s.Bytes), signatureSize)
	}
	if own.Kind == network.P2TR {
		return wire.TxWitness{s.Bytes}, nil
	}
	var first, second btcec.ModNScalar
	if first.SetByteSlice(s.Bytes[:32]) || second.SetByteSlice(s.Bytes[32:]) {
		return nil, errors.New("the signature is over the curve's order")
	}
	der := ecdsa.NewSignature(&first, &second).Serialize()
	return wire.TxWitness{append(der, byte(txscript.SigHashAll)), own.Public}, nil
}
