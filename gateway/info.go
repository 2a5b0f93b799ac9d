package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
)

// metaInfo is the data of /meta-info.
type metaInfo struct {
	Type          int    `json:"type"`
	DepositState  string `json:"depositState"`
	WithdrawState string `json:"withdrawState"`
}

func (n *network) metaInfo(ctx context.Context, q query) (any, error) {
	token := q.token
	info, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (metaInfo, error) {
		deposit, err := status.ReadChannel(tx, n.Network, token.TokenID, records.Deposit)
		if err != nil {
			return metaInfo{}, err
		}
		withdraw, err := status.ReadChannel(tx, n.Network, token.TokenID, records.Withdrawal)
		return metaInfo{token.Type, deposit.State(), withdraw.State()}, err
	})
	if err != nil { // without the records nothing moves, and the page needs no more than that
		n.faults.Write(n.Log.WithError(err), logrus.ErrorLevel, "gateway meta-info")
		return metaInfo{token.Type, records.ChannelMaintain, records.ChannelMaintain}, nil
	}
	return info, nil
}

// depositInfo is the data of /deposit-info. The label's keys are left out for type 0: Android takes
// any labelName, even an empty one, for a reason to write length bytes into a withdrawal's comment
// (docs/gateway-clients.md 4.3).
type depositInfo struct {
	DepositAddress       string       `json:"depositAddress"`
	PaymentURI           string       `json:"paymentUri,omitempty"`
	LabelName            string       `json:"labelName,omitempty"`
	Label                string       `json:"label,omitempty"`
	MinimumDepositAmount chain.Amount `json:"minimumDepositAmount"`
	ConfirmationCount    uint64       `json:"confirmationCount"`
	NoticeMsg            string       `json:"noticeMsg,omitempty"`
}

func (n *network) depositInfo(ctx context.Context, q query) (any, error) {
	token := q.token
	owner, err := q.wallet(n.exchange)
	if err != nil {
		return nil, err
	}
	b, known, err := n.bind(ctx, token, owner, q.client)
	if err != nil {
		return nil, err
	}
	info := depositInfo{
		DepositAddress: b.Address, LabelName: token.LabelName, Label: b.Label,
		MinimumDepositAmount: token.Policy.MinDeposit, ConfirmationCount: token.Policy.DepositConfirmations.Count,
	}
	if token.Type == records.TypeLabel { // a label stays its user's, and the address may be another since he got it
		info.DepositAddress = n.Shared
	}
	ledger := chain.CapabilitiesOf(n.source)
	if ledger.Links != nil && token.Asset == chain.Native {
		info.PaymentURI = ledger.Links.PaymentURI(info.DepositAddress)
	}
	switch {
	case known.state == records.ChannelMaintain:
		info.NoticeMsg = n.texts.text(q.lang, "notice_deposit_maintain")
	case known.held:
		info.NoticeMsg = n.texts.text(q.lang, "notice_deposit_held")
	case ledger.Coins != nil:
		info.NoticeMsg = n.texts.text(q.lang, "notice_deposit_no_sender")
	}
	return info, nil
}

// binding is the known data of a user before anything is written.
type binding struct {
	records.Binding
	found bool
	state string // of the deposit channel
	held  bool   // a deposit of the user waits for people, because the signer cannot prove it
}

// bind returns the user's inbound address or label, making it the first time. A reader is enough
// for users who came before; newcomers are counted, because each takes an address that is watched
// for ever.
func (n *network) bind(ctx context.Context, token records.Token, owner, client string) (records.Binding, binding, error) {
	known, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (binding, error) { return n.known(tx, token, owner) })
	if err != nil {
		return records.Binding{}, known, err
	}
	if known.state == records.ChannelClosed {
		return records.Binding{}, known, refuse(depositClosed)
	}
	if known.found {
		return known.Binding, known, nil
	}
	wait, err := n.bindingLimits.count(ctx, n.Store, client)
	if err != nil {
		return records.Binding{}, known, fmt.Errorf("counting new users: %w", err)
	}
	if wait > 0 {
		return records.Binding{}, known, refuseUntil(tooManyBindings, wait)
	}
	b, err := n.bindNewcomer(ctx, token, owner)
	return b, known, err
}

// bindNewcomer gives a new user an address or a label in three steps: what is free, the signer
// gives it, the records store it. No transaction waits for the signer. What is given and then not
// stored stays unused. Newcomers take turns, so that none asks for an index that another one is
// given.
func (n *network) bindNewcomer(ctx context.Context, token records.Token, owner string) (records.Binding, error) {
	if err := n.newcomers.Acquire(ctx, 1); err != nil {
		return records.Binding{}, fmt.Errorf("waiting for other new users: %w", err)
	}
	defer n.newcomers.Release(1)
	meanwhile, err := n.boundMeanwhile(ctx, token, owner)
	if err != nil || meanwhile.found {
		return meanwhile.Binding, err
	}
	if token.Type == records.TypeLabel {
		return n.bindLabel(ctx, owner)
	}
	free, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (records.FreeIndexes, error) {
		return tx.Bindings().FreeIndexes(n.Network.Source, owner)
	})
	if err != nil {
		return records.Binding{}, err
	}
	given, err := free.Give(func(index uint32) (string, string, error) { return n.derive(ctx, owner, index) })
	if err != nil {
		return records.Binding{}, fmt.Errorf("giving an address: %w", err)
	}
	return n.storeBinding(ctx, func(tx *records.Tx) (records.Binding, error) {
		return tx.Bindings().AddAddress(n.Name, n.Network.Source, owner, given)
	})
}

// boundMeanwhile returns what another request of the same user was given while this one waited. It
// refuses all new users within the bound of a day.
func (n *network) boundMeanwhile(ctx context.Context, token records.Token, owner string) (binding, error) {
	return callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (b binding, err error) {
		if b.Binding, b.found, err = tx.Bindings().ByOwner(n.Name, token.Type, owner); err == nil && !b.found {
			err = n.bindingLimits.checkDay(tx)
		}
		return b, err
	})
}

// bindLabel gives a new user a label. The signer may refuse it: the next call tries another one.
func (n *network) bindLabel(ctx context.Context, owner string) (records.Binding, error) {
	label, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (string, error) { return tx.Bindings().FreeLabel(n.Name, n.Label) })
	if err == nil && n.giveLabel != nil {
		err = n.giveLabel(ctx, owner, label)
	}
	if err != nil {
		return records.Binding{}, fmt.Errorf("giving a label: %w", err)
	}
	return n.storeBinding(ctx, func(tx *records.Tx) (records.Binding, error) {
		return tx.Bindings().AddLabel(n.Name, n.Network.Source, owner, n.Shared, label)
	})
}

// storeBinding stores what was given, within the bound of a day.
func (n *network) storeBinding(ctx context.Context, add func(*records.Tx) (records.Binding, error)) (records.Binding, error) {
	return callStore(ctx, n.Server, n.Store.Update, func(tx *records.Tx) (records.Binding, error) {
		if err := n.bindingLimits.checkDay(tx); err != nil {
			return records.Binding{}, err
		}
		return add(tx)
	})
}

func (n *network) known(tx *records.Tx, token records.Token, owner string) (k binding, err error) {
	channel, err := status.ReadChannel(tx, n.Network, token.TokenID, records.Deposit)
	if err != nil {
		return k, err
	}
	k.state = channel.State()
	ours, err := isOurs(tx, n.Network.Exchange, owner)
	if err == nil && ours {
		err = refuse(walletOurs)
	}
	if err != nil {
		return k, err
	}
	if k.Binding, k.found, err = tx.Bindings().ByOwner(n.Name, token.Type, owner); err == nil && k.found {
		k.held, err = tx.Payments().HeldDeposit(records.HeldUnproven, n.Name, token.TokenID, owner)
	}
	return k, err
}

// isOurs reports whether an address is an account of the gateway.
func isOurs(tx *records.Tx, id chain.ID, address string) (bool, error) {
	_, err := tx.Accounts().Get(id, address)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, records.ErrNotFound):
		return false, nil
	}
	return false, fmt.Errorf("finding our account: %w", err)
}

// withdrawInfo is the data of /withdraw-info. Wallets hold the limits against the net amount.
type withdrawInfo struct {
	MinimumWithdrawAmount chain.Amount `json:"minimumWithdrawAmount"`
	MaximumWithdrawAmount chain.Amount `json:"maximumWithdrawAmount"`
	GatewayAddress        string       `json:"gatewayAddress"`
	LabelName             string       `json:"labelName,omitempty"`
	NoticeMsg             string       `json:"noticeMsg,omitempty"`
}

// noMaximum is the wallets' maximum when there is none: they read "0" as "nothing may be
// withdrawn", and Android stops without a number.
const noMaximum = "115792089237316195423570985008687907853269984665640564039457584007913129639935"

func (n *network) withdrawInfo(ctx context.Context, q query) (any, error) {
	token := q.token
	if _, err := q.wallet(n.exchange); err != nil {
		return nil, err
	}
	channel, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (status.Channel, error) {
		return status.ReadChannel(tx, n.Network, token.TokenID, records.Withdrawal)
	})
	if err != nil { // sending is not possible now, without the user's fault
		return nil, &refusal{fault: withdrawMaintain, cause: err}
	}
	switch channel.State() {
	// an error, because web and iOS do not check the state before users send
	// (docs/gateway-api.md#channel-states)
	case records.ChannelMaintain:
		return nil, refuse(withdrawMaintain)
	case records.ChannelClosed:
		return nil, refuse(withdrawClosed)
	}
	info := withdrawInfo{
		MinimumWithdrawAmount: token.Policy.MinWithdraw, MaximumWithdrawAmount: token.Policy.MaxWithdraw, GatewayAddress: n.Gateway, LabelName: token.LabelName,
	}
	if batches := chain.CapabilitiesOf(n.source).Batches; token.Asset == chain.Native && batches != nil && batches.MaxBatch(chain.Native) > 1 && batches.BatchTo(chain.Native) != "" {
		info.NoticeMsg = n.texts.text(q.lang, "notice_withdraw_by_contract")
	}
	if info.MaximumWithdrawAmount.IsZero() {
		info.MaximumWithdrawAmount = chain.MustAmount(noMaximum)
	}
	return info, nil
}
