package index

import (
	"fmt"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// Kinds of transfers as REST numbers them (docs/exchange-rules.md 1.1).
const (
	kindDeposit    = 1
	kindWithdrawal = 2
)

// transfer stores a deposit for who has it, a withdrawal for who had it. A transfer inside the exchange is neither. Of a plain
// deposit or withdrawal the contract itself is the other end (recorded from a real node: chain/vite/rpc/testdata/dex.jsonl).
func (a *applier) transfer(b *block, pos int, t *dex.Transfer) error {
	a.touch(t.From, t.To)
	n := amount{t.Amount}
	switch t.Kind {
	case dex.KindDeposit:
		return a.saveTransfer(b, pos, t.From, t.Token, &n, kindDeposit)
	case dex.KindAgentDeposit:
		return a.saveTransfer(b, pos, t.To, t.Token, &n, kindDeposit)
	case dex.KindWithdrawal:
		return a.saveTransfer(b, pos, t.To, t.Token, &n, kindWithdrawal)
	case dex.KindAssignedWithdraw:
		return a.saveTransfer(b, pos, t.From, t.Token, &n, kindWithdrawal)
	}
	return nil
}

func (a *applier) saveTransfer(b *block, pos int, account core.Address, token core.TokenID, n *amount, kind int) error {
	a.touch(account)
	err := a.exec("INSERT INTO ex_transfers (height, pos, account, token, amount, kind, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		b.height, pos, account.String(), token.String(), *n, kind, a.clockOf(b))
	if err != nil {
		return fmt.Errorf("storing a transfer: %w", err)
	}
	return nil
}
