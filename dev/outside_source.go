package dev

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"gatewayd/dev/ethnode"
)

const (
	faucetCoins  = 30_000           // the faucet's target on a node of the caller's, in whole coins
	outsidePause = 30 * time.Second // for a block of that node
	deployGas    = 5_000_000
)

// prepareOutside gives the faucet coins of a development node's own accounts, and puts the test
// tokens on its chain, unless they are there.
func prepareOutside(ctx context.Context, faucet *EthUser) error {
	if err := fillFaucet(ctx, faucet); err != nil {
		return err
	}
	tokens := ethnode.ContractsOf(faucet.Address())
	code, err := faucet.Client.CodeAt(ctx, tokens.USDT, nil)
	if err != nil || len(code) > 0 {
		return err
	}
	nonce, err := faucet.Client.PendingNonceAt(ctx, faucet.Address())
	if err != nil {
		return fmt.Errorf("asking for the faucet's nonce: %w", err)
	}
	if nonce > 0 {
		return fmt.Errorf("the test tokens are not on the source chain, and its faucet %s has sent %d transactions before them: start the node with a new chain", faucet.Address(), nonce)
	}
	return deployTokens(ctx, faucet)
}

func deployTokens(ctx context.Context, faucet *EthUser) error {
	var sent []common.Hash
	for nonce, call := range ethnode.Deployment(faucet.Address()) {
		tx, err := faucet.sign(ctx, uint64(nonce), call.To, new(big.Int), call.Data, deployGas)
		if err == nil {
			err = faucet.Client.SendTransaction(ctx, tx)
		}
		if err != nil {
			return fmt.Errorf("deploying the test tokens on the source chain: %w", err)
		}
		sent = append(sent, tx.Hash())
	}
	return allMined(ctx, faucet, sent)
}

// fillFaucet moves coins from the node's accounts to the faucet until it has enough.
func fillFaucet(ctx context.Context, faucet *EthUser) error {
	have, err := faucet.Balance(ctx, "native", faucet.Address())
	if err != nil {
		return fmt.Errorf("asking for the faucet's balance: %w", err)
	}
	want := Whole(faucetCoins, 18).Uint256().ToBig()
	if have.Cmp(want) >= 0 {
		return nil
	}
	var accounts []common.Address
	refused := faucet.Client.Client().CallContext(ctx, &accounts, "eth_accounts")
	var sent []common.Hash
	for _, from := range accounts {
		part, err := takeable(ctx, faucet, from, new(big.Int).Sub(want, have))
		if err != nil {
			return err
		}
		if part.Sign() <= 0 {
			continue
		}
		to := faucet.Address()
		var hash common.Hash
		order := map[string]any{"from": from, "to": to, "value": (*hexutil.Big)(part)}
		if refused = faucet.Client.Client().CallContext(ctx, &hash, "eth_sendTransaction", order); refused != nil {
			continue // another account may be unlocked
		}
		sent = append(sent, hash)
		if have.Add(have, part); have.Cmp(want) >= 0 {
			return allMined(ctx, faucet, sent)
		}
	}
	return lackingCoins(faucet, have, want, len(accounts), refused)
}

// takeable returns the amount that an account can give away, up to most; one coin remains for the
// fee.
func takeable(ctx context.Context, node *EthUser, from common.Address, most *big.Int) (*big.Int, error) {
	has, err := node.Balance(ctx, "native", from)
	if err != nil {
		return nil, fmt.Errorf("asking for the balance of %s: %w", from, err)
	}
	if has.Sub(has, Whole(1, 18).Uint256().ToBig()); has.Cmp(most) > 0 {
		return most, nil
	}
	return has, nil
}

// lackingCoins names what is missing, and what to do.
func lackingCoins(faucet *EthUser, have, want *big.Int, accounts int, refused error) error {
	missing := new(big.Int).Sub(want, have)
	missing.Div(missing, Whole(1, 18).Uint256().ToBig()).Add(missing, big.NewInt(1))
	err := fmt.Errorf("the source node's own accounts (%d) give too few coins: send %s coins to the faucet %s on its chain, then start again", accounts, missing, faucet.Address())
	if refused != nil {
		return errors.Join(err, fmt.Errorf("the node answers: %w", refused))
	}
	return err
}

// allMined waits until blocks contain transactions.
func allMined(ctx context.Context, node *EthUser, sent []common.Hash) error {
	waiting, cancel := context.WithTimeout(ctx, outsidePause)
	defer cancel()
	for _, hash := range sent {
		if err := node.Mined(waiting, hash); err != nil {
			return fmt.Errorf("waiting for transaction %s on the source chain: %w (does the node create blocks?)", hash, err)
		}
	}
	return nil
}
