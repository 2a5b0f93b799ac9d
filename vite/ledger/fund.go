package ledger

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// fundMethods are dexFund's: balances, markets, permissions, clock, and where orders enter
// (docs/exchange-rules.md 3.1).
var fundMethods = []method{
	{dex.FundDeposit, checkDeposit, deposit},
	{dex.OldFundDeposit, checkDeposit, deposit},
	{dex.FundAgentDeposit, checkAgentDeposit, agentDeposit},
	{dex.FundWithdraw, checkWithdraw, withdraw},
	{dex.OldFundWithdraw, checkWithdraw, withdraw},
	{dex.FundAssignedWithdraw, checkAssignedWithdraw, assignedWithdraw},
	{dex.FundTransfer, checkTransfer, transferFunds},
	{dex.FundOpenMarket, checkOpenMarket, openMarket},
	{dex.OldFundOpenMarket, checkOpenMarket, openMarket},
	{dex.FundPlaceOrder, checkPlaceOrder, placeOwnOrder},
	{dex.OldFundPlaceOrder, checkPlaceOrder, placeOwnOrder},
	{dex.FundPlaceAgentOrder, checkPlaceAgentOrder, placeAgentOrder},
	{dex.OldFundPlaceAgentOrder, checkPlaceAgentOrder, placeAgentOrder},
	{dex.FundCancelBySendHash, checkNoAmount, cancelThroughFund},
	{dex.FundConfigAgents, checkAgents, configAgents},
	{dex.OldFundConfigAgents, checkAgents, configAgents},
	{dex.FundMarketAdmin, checkMarketAdmin, marketAdmin},
	{dex.OldFundMarketAdmin, checkMarketAdmin, marketAdmin},
	{dex.FundTransferTokenOwner, checkTokenOwner, transferTokenOwner},
	{dex.OldFundTransferTokenOwner, checkTokenOwner, transferTokenOwner},
	{dex.FundStakeForVIP, checkVIP, stakeForVIP(false)},
	{dex.OldFundStakeForVIP, checkVIP, stakeForVIP(false)},
	{dex.FundStakeForSVIP, checkVIP, stakeForVIP(true)},
	{dex.OldFundStakeForSVIP, checkVIP, stakeForVIP(true)},
	{dex.FundStakeForPrincipal, checkPrincipal, stakeForPrincipal},
	{dex.FundCancelStake, checkNoAmount, cancelStake},
	{dex.FundCreateInviter, checkNoAmount, createInviter},
	{dex.OldFundCreateInviter, checkNoAmount, createInviter},
	{dex.FundBindInvite, checkNoAmount, bindInvite},
	{dex.OldFundBindInvite, checkNoAmount, bindInvite},
	{dex.FundLockVX, checkLockup, lockVX},
	{dex.FundSwitch, checkSwitch, switchConfig},
	{dex.FundStakeForMining, checkLockup, stakeForMining},
	{dex.OldFundStakeForMining, checkLockup, stakeForMining},
	{dex.FundEndorseVX, checkEndow, endow},
	{dex.FundPeriodJob, checkPeriodJob, periodJob},
	{dex.FundNotifyTime, checkNoAmount, notifyTime},
	{dex.FundDexAdmin, checkDexAdmin, dexAdmin},
	{dex.OldFundDexAdmin, checkDexAdmin, dexAdmin},
	{dex.FundTradeAdmin, checkTradeAdmin, tradeAdmin},
	{dex.OldFundTradeAdmin, checkTradeAdmin, tradeAdmin},
	{dex.FundSettleOrders, fromContract, settleOrders},
	{dex.FundTokenInfo, fromContract, receiveTokenInfo},
}

func checkDeposit(b *core.AccountBlock, _ []any) error {
	if b.Amount.IsZero() {
		return ErrDexParam
	}
	return nil
}

func deposit(x *execution, _ []any) error {
	x.state.creditExchange(x.send.Address, x.send.TokenID, x.send.Amount)
	x.announceTransfer(dex.KindDeposit, x.send.Address, x.self.address, x.send.TokenID, x.send.Amount, nil)
	return nil
}

func checkAgentDeposit(b *core.AccountBlock, args []any) error {
	if !isUser(args[0].(core.Address)) {
		return ErrDexParam
	}
	return checkDeposit(b, nil)
}

// isUser reports whether the address can be someone's account on the exchange.
func isUser(a core.Address) bool { return !a.IsZero() && !a.IsContract() }

func agentDeposit(x *execution, args []any) error {
	to := args[0].(core.Address)
	x.state.creditExchange(to, x.send.TokenID, x.send.Amount)
	x.announceTransfer(dex.KindAgentDeposit, x.send.Address, to, x.send.TokenID, x.send.Amount, nil)
	return nil
}

func checkWithdraw(b *core.AccountBlock, args []any) error {
	if amount := args[1].(uint256.Int); amount.IsZero() {
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

func withdraw(x *execution, args []any) error {
	token, amount := args[0].(core.TokenID), args[1].(uint256.Int)
	if err := x.state.debitExchange(x.send.Address, token, amount); err != nil {
		return err
	}
	x.transfer(x.send.Address, token, amount)
	x.announceTransfer(dex.KindWithdrawal, x.self.address, x.send.Address, token, amount, nil)
	return nil
}

func checkAssignedWithdraw(b *core.AccountBlock, args []any) error {
	if !isUser(args[0].(core.Address)) { // a contract would be called by the data
		return ErrDexParam
	}
	return checkWithdraw(b, args[1:])
}

// assignedWithdraw pays from the sender's balance to another account; the label goes with the
// payment.
func assignedWithdraw(x *execution, args []any) error {
	to, token, amount, label := args[0].(core.Address), args[1].(core.TokenID), args[2].(uint256.Int), args[3].([]byte)
	if err := x.state.debitExchange(x.send.Address, token, amount); err != nil {
		return err
	}
	x.transfer(to, token, amount)
	if len(label) > 0 {
		x.sends[len(x.sends)-1].Data = label
	}
	x.announceTransfer(dex.KindAssignedWithdraw, x.send.Address, to, token, amount, label)
	return nil
}

func checkTransfer(b *core.AccountBlock, args []any) error {
	if !isUser(args[0].(core.Address)) {
		return ErrDexParam
	}
	return checkWithdraw(b, args[1:])
}

func transferFunds(x *execution, args []any) error {
	to, token, amount := args[0].(core.Address), args[1].(core.TokenID), args[2].(uint256.Int)
	if err := x.state.debitExchange(x.send.Address, token, amount); err != nil {
		return err
	}
	x.state.creditExchange(to, token, amount)
	x.announceTransfer(dex.KindTransfer, x.send.Address, to, token, amount, nil)
	return nil
}

func (x *execution) announceTransfer(
	kind dex.TransferKind, from, to core.Address, token core.TokenID, amount uint256.Int, extra []byte,
) {
	event := dex.Transfer{Kind: kind, From: from, To: to, Token: token, Amount: amount, Extra: extra}
	x.announce(dex.TransferEvent, event.Encode())
}

// settleOrders does what dexTrade has found.
func settleOrders(x *execution, args []any) error {
	settlement, err := dex.DecodeSettlement(args[0].([]byte))
	if err != nil {
		return err
	}
	for i := range settlement.Accounts {
		a := &settlement.Accounts[i]
		if err := x.settle(Holding{a.Owner, settlement.Trade}, &a.Trade); err != nil {
			return err
		}
		if err := x.settle(Holding{a.Owner, settlement.Quote}, &a.Quote); err != nil {
			return err
		}
	}
	if len(settlement.Fees) == 0 {
		return nil
	}
	market, err := x.state.Exchange.Market(settlement.Trade, settlement.Quote)
	if err != nil {
		return err
	}
	for i := range settlement.Fees {
		x.state.collect(&market, &settlement.Fees[i])
	}
	return nil
}

// collect books what an account has paid in a market.
func (s *State) collect(market *dex.Market, f *dex.FeeSettlement) {
	s.bookFees(market.Quote, &f.BaseFee, &f.OperatorFee, new(uint256.Int))
	if !f.OperatorFee.IsZero() {
		earned := s.Exchange.Mining.Earned[market.ID]
		earned.Add(&earned, &f.OperatorFee)
		put(&s.journal, s.Exchange.Mining.Earned, market.ID, earned)
	}
	s.mine(market, f.Payer, f.BaseFee)
}

func (x *execution) settle(h Holding, c *dex.Change) error {
	if *c == (dex.Change{}) {
		return nil
	}
	after, err := x.state.Exchange.Funds[h].Apply(c)
	if err != nil {
		return err
	}
	put(&x.state.journal, x.state.Exchange.Funds, h, after)
	return nil
}
