package dev

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev/bitcoinnode"
)

// CoinUser is a wallet on the chain of `gatewayd dev --bitcoin`. It finds coins in the blocks, of
// which it reads all: the node has no wallet.
type CoinUser struct {
	node    *bitcoinnode.Client
	network *network.Network
	wallet  *bitcoinnode.Wallet
	read    uint64 // height of the last block that was read
	unspent map[wire.OutPoint]coin
}

// coin is an output, of whatever wallet.
type coin struct {
	*wire.TxOut
	from uint64 // the first block that may spend it
}

// The blocks after which a new block's own coin may be spent, and what each transaction of a user
// costs in satoshi.
const (
	coinMaturity = 100
	coinFee      = 20_000
)

// NewCoinUser is the wallet of a name; the key is public.
func NewCoinUser(node *bitcoinnode.Client, networkName, name string) (u *CoinUser, err error) {
	u = &CoinUser{node: node, network: network.Named(networkName), unspent: map[wire.OutPoint]coin{}}
	if u.network == nil {
		return nil, fmt.Errorf("%q is no network", networkName)
	}
	u.wallet, err = bitcoinnode.NewWallet(name)
	return u, err
}

// Address takes payments to the wallet.
func (u *CoinUser) Address() string {
	a, _ := u.network.Of(u.wallet.Script()) // of P2WPKH
	return a.Text
}

// catchUp reads the new blocks.
func (u *CoinUser) catchUp() error {
	top, err := u.node.Height()
	for err == nil && u.read < top {
		var block *wire.MsgBlock
		if block, err = u.node.Block(u.read + 1); err == nil {
			u.read++
			u.add(block)
		}
	}
	if err != nil {
		return fmt.Errorf("reading the source chain: %w", err)
	}
	return nil
}

func (u *CoinUser) add(block *wire.MsgBlock) {
	for i, tx := range block.Transactions {
		from := u.read + 1
		if i == 0 {
			from = u.read + coinMaturity
		}
		for _, in := range tx.TxIn {
			delete(u.unspent, in.PreviousOutPoint)
		}
		for n, out := range tx.TxOut {
			u.unspent[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(n)}] = coin{out, from}
		}
	}
}

// Balance is the sum of an address's coins.
func (u *CoinUser) Balance(of string) (sum int64, err error) {
	a, err := u.network.Parse(of)
	if err == nil {
		err = u.catchUp()
	}
	for _, c := range u.unspent {
		if string(c.PkScript) == string(a.Script) {
			sum += c.Value
		}
	}
	return sum, err
}

// Pay sends an amount to an address, and waits until a block has it.
func (u *CoinUser) Pay(ctx context.Context, to string, amount chain.Amount) (hash string, err error) {
	tx, err := u.send(to, amount, 1)
	if err != nil {
		return "", err
	}
	return tx.TxHash().String(), Poll(ctx, func() (bool, error) {
		err := u.catchUp()
		_, waits := u.unspent[tx.TxIn[0].PreviousOutPoint]
		return !waits, err
	})
}

// send makes one transaction with several outputs of the same amount. Others may use the same
// wallet: it takes the coins at random.
func (u *CoinUser) send(to string, amount chain.Amount, outputs int) (*wire.MsgTx, error) {
	a, err := u.network.Parse(to)
	if err == nil {
		err = u.catchUp()
	}
	if err != nil {
		return nil, err
	}
	if amount.Uint256().BitLen() > maxCoinBits {
		return nil, errNoCoins
	}
	each := int64(amount.Uint256().Uint64())
	var outs []*wire.TxOut
	for range outputs {
		outs = append(outs, wire.NewTxOut(each, a.Script))
	}
	coins, left := u.choose(int64(outputs)*each + coinFee)
	if left < 0 {
		return nil, errNoCoins
	}
	if left >= u.network.Dust(u.wallet.Script()) {
		outs = append(outs, wire.NewTxOut(left, u.wallet.Script()))
	}
	tx, err := u.wallet.Spend(coins, outs...)
	if err != nil {
		return nil, err
	}
	if err := u.node.Send(tx); err != nil {
		return nil, fmt.Errorf("sending: %w", err)
	}
	return tx, nil
}

// maxCoinBits bounds amounts so that sums of some are numbers of 64 bits.
const maxCoinBits = 56

var errNoCoins = errors.New("the wallet has less than that on the source chain")

// choose takes coins of the wallet for an amount, and answers what they leave; below zero: they do
// not suffice.
func (u *CoinUser) choose(amount int64) (coins []bitcoinnode.Coin, left int64) {
	left = -amount
	for at, c := range u.unspent { // in random order
		if left < 0 && string(c.PkScript) == string(u.wallet.Script()) && u.read+1 >= c.from {
			coins, left = append(coins, bitcoinnode.Coin{Out: at, Amount: c.Value}), left+c.Value
		}
	}
	return coins, left
}

// User is a wallet on the coin's chain.
func (c Coin) User(name string) (*CoinUser, error) {
	return NewCoinUser(bitcoinnode.NewClient(c.Node), c.Network, name)
}
