package drill

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/internal/testing/faults"
)

var issuer = contracts.NewFreezableToken()

// issue gives a user's token an issuer who can freeze and pause it, and sends his order. Balances
// stay.
func (w *drillEnv) issue(ctx context.Context, u *drillUser, order []byte) error {
	code := append(common.FromHex(contracts.FreezableTokenMetaData.Bin), issuer.PackConstructor("Tether USD", "USDT", 6)...)
	at, err := w.anvil.Deploy(code)
	if err != nil {
		return err
	}
	runtime, err := w.anvil.Client().CodeAt(ctx, at, nil)
	if err != nil {
		return err
	}
	token := common.HexToAddress(u.Token.Asset)
	if err := w.anvil.Client().Client().CallContext(ctx, nil, "anvil_setCode", token, hexutil.Bytes(runtime)); err != nil {
		return err
	}
	_, err = w.anvil.SendCall(token, nil, order)
	return err
}

// refusedWithdrawal sends the issuer's order and has a user withdraw at once, before anybody has
// noticed it.
func (w *drillEnv) refusedWithdrawal(ctx context.Context, order []byte) (err error) {
	u := w.users[1]
	if err := w.issue(ctx, u, order); err != nil {
		return err
	}
	w.waiting, err = u.withdraw(ctx, u.Times(1))
	return err
}

// payAgain takes the issuer's order back and waits for the withdrawal that was refused.
func (w *drillEnv) payAgain(ctx context.Context, order []byte) error {
	u := w.users[1]
	if err := w.issue(ctx, u, order); err != nil {
		return err
	}
	w.log.Note("the issuer lets the token be paid again")
	return u.waitForPaid(ctx, "", w.waiting)
}

func (w *drillEnv) freezeAccount(ctx context.Context) error {
	return w.refusedWithdrawal(ctx, issuer.PackFreeze(common.HexToAddress(w.hot), true))
}

func (w *drillEnv) unfreezeAccount(ctx context.Context) error {
	return w.payAgain(ctx, issuer.PackFreeze(common.HexToAddress(w.hot), false))
}

func (w *drillEnv) pauseToken(ctx context.Context) error {
	return w.refusedWithdrawal(ctx, issuer.PackPause(true))
}

func (w *drillEnv) unpauseToken(ctx context.Context) error {
	return w.payAgain(ctx, issuer.PackPause(false))
}

// refusePayouts has every source node refuse to take transactions while a user withdraws.
func (w *drillEnv) refusePayouts(ctx context.Context) (err error) {
	for _, n := range w.sources {
		n.Fail(faults.Fault{Refusal: faults.Refusal{Method: "eth_sendRawTransaction", Text: "tx fee (1.50 ether) exceeds the configured cap (1.00 ether)"}})
	}
	w.waiting, err = w.users[0].withdraw(ctx, w.users[0].Times(1))
	return err
}

func (w *drillEnv) acceptPayouts(ctx context.Context) error {
	if err := w.healNodes(ctx); err != nil {
		return err
	}
	return w.users[0].waitForPaid(ctx, "", w.waiting)
}
