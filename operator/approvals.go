package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/signer/checks"
	"gatewayd/signer/limits"
	"gatewayd/status"
	"gatewayd/transfers"
)

// Waiting is a record's payment that waits, as approvers sign it.
type Waiting struct {
	Payment  records.Payment
	Transfer records.Transfer
	Claim    chain.Claim
	Known    []chain.Approval // what was signed of it
	In       Incoming         // the transfer on its chain
	Earlier  *records.Earlier // payouts to the payee; nil for other payments
	Verdict  string           // the signer's last answer: its rule, and how many approvals it has and wants
}

// ErrNothingWaits means that no payment of a record may be approved.
var ErrNothingWaits = errors.New("no payment waits for approval")

// WaitingPayment returns the payment of a record that may be approved.
func (d *Session) WaitingPayment(ctx context.Context, record uint64) (w Waiting, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		payments, err := tx.Payments().Of(record)
		if err != nil {
			return err
		}
		for _, p := range payments {
			may, err := tx.Slots().MayApprove(p)
			if err != nil {
				return err
			}
			if may && p.Purpose != chain.Receive {
				w, err = waitingOf(tx, p)
				return err
			}
		}
		if _, err := tx.Transfers().Get(record); err != nil {
			return err
		}
		return fmt.Errorf("record %d has no pending payment: %w", record, ErrNothingWaits)
	})
	if errors.Is(err, records.ErrNotFound) {
		return w, plainly(err, "there is no record %d", record)
	}
	return w, err
}

func waitingOf(tx *records.Tx, p records.Payment) (w Waiting, err error) {
	if w.Transfer, err = tx.Transfers().Get(p.TransferID); err != nil {
		return w, err
	}
	record, err := tx.Transfers().Record(p.TransferID)
	if err != nil {
		return w, err
	}
	w.Payment, w.Claim, w.In = p, transfers.ClaimOf(p, w.Transfer), incomingOf(record)
	known, err := tx.Payments().Approvals([]uint64{p.ID})
	if err != nil {
		return w, err
	}
	w.Known = known[p.ID]
	if p.Purpose == chain.Credit && w.Transfer.Direction == records.Withdrawal {
		earlier, err := tx.Payments().Earlier(p.Chain, p.Payee)
		if err != nil {
			return w, err
		}
		w.Earlier = &earlier
	}
	history, err := tx.History("payment", strconv.FormatUint(p.ID, 10))
	for _, e := range history {
		if e.Event == "signer" {
			w.Verdict = e.Detail
		}
	}
	return w, err
}

// WaitingPayments are those that people's approvals would let go, oldest first: at most limit for
// each reason that holds them.
func (d *Session) WaitingPayments(ctx context.Context, limit int) (list []Waiting, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		for _, reason := range []records.Reason{records.HeldApproval, records.HeldUnproven} {
			held, err := tx.Payments().HeldFor(reason, 0, limit)
			if err != nil {
				return err
			}
			for _, p := range held {
				if p.TransferID == 0 {
					continue
				}
				w, err := waitingOf(tx, p)
				if err != nil {
					return err
				}
				list = append(list, w)
			}
		}
		return nil
	})
	return list, err
}

// ApproveAs hands the daemon what an approver has signed, under the actor of ctx.
func (d *Session) ApproveAs(ctx context.Context, w Waiting, a chain.Approval) error {
	return d.Store.Update(ctx, func(tx *records.Tx) error { return transfers.Approve(tx, w.Payment.ID, a) })
}

// Approve hands the daemon what an approver has signed.
func (d *Session) Approve(ctx context.Context, w Waiting, a chain.Approval) error {
	return d.ApproveAs(AsOperator(ctx), w, a)
}

// Approver returns the configured name of a key; false where the configuration names no approvers,
// as with a separate signer.
func (d *Session) Approver(key string) (name string, known bool, err error) {
	approvers := d.Config.Signer.Approvals.Approvers
	if len(approvers) == 0 {
		return "", false, nil
	}
	for _, a := range approvers {
		if a.PublicKey() == key {
			return a.Name, true, nil
		}
	}
	return "", false, fmt.Errorf("the key %s is not in signer.approvals.approvers", key)
}

// ApproverNames returns the names of the configured approvers; none with a separate signer.
func (d *Session) ApproverNames() []string {
	names := []string{}
	for _, a := range d.Config.Signer.Approvals.Approvers {
		names = append(names, a.Name)
	}
	return names
}

// PaymentCost contains the value of a payment and its network cost, for approvers.
type PaymentCost struct {
	Worth        string        `json:"worth,omitempty"`        // of the amount, with the currency; empty without a fresh price
	Price        *limits.Price `json:"price,omitempty"`        // that Worth uses
	Now          *chain.Amount `json:"costNow,omitempty"`      // present cost of a payout, in units of the token; nil: not quoted
	Ceiling      *chain.Amount `json:"ceiling,omitempty"`      // maximum cost in native coin; nil where there are no fees
	CeilingWorth string        `json:"ceilingWorth,omitempty"` // as Worth, of Ceiling
}

// pricesAreFresh is the maximum age of a report whose prices count as the present ones.
const pricesAreFresh = 5 * time.Minute

// CostOf returns the value of a payment by the prices of the signer's limits, and what the network
// may take for it.
func (d *Session) CostOf(ctx context.Context, w Waiting, now time.Time) (out PaymentCost, err error) {
	p := w.Payment
	networks := d.Config.NetworkRecords()
	network, token := tokenOf(networks, p.Network, p.Token)
	if out.Ceiling, err = d.mostCost(w, network, token); err != nil || token.TokenID == "" {
		return out, err
	}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		report, at, err := LimitsOf(tx)
		if err != nil {
			return err
		}
		worth := func(a chain.Amount, t records.Token, decimals uint8) (string, *limits.Price) {
			i := slices.IndexFunc(report.Prices, func(price limits.Price) bool { return price.Token == t.TokenID && price.Fresh })
			if i < 0 || now.Sub(at) >= pricesAreFresh {
				return "", nil
			}
			return worthOf(a, decimals, report.Prices[i].Worth), &report.Prices[i]
		}
		out.Worth, out.Price = worth(p.Amount, token, decimalsOf(token, p.Asset))
		if i := slices.IndexFunc(network.Tokens, func(t records.Token) bool { return t.Asset == chain.Native }); i >= 0 && out.Ceiling != nil && p.Chain == network.Source {
			out.CeilingWorth, _ = worth(*out.Ceiling, network.Tokens[i], network.CoinDecimals)
		}
		if p.Chain != network.Source || token.Policy.Fee.Kind != "network" { // the only kind with quotes
			return nil
		}
		_, cost, quoted, err := records.QuotesSince(tx, p.Network, p.Token, now)
		if quoted {
			out.Now = &cost
		}
		return err
	})
	return out, err
}

// mostCost returns the lower of the chain's ceiling and the one that follows from the fee; nil
// where there are no fees.
func (d *Session) mostCost(w Waiting, network records.Network, token records.Token) (*chain.Amount, error) {
	p := w.Payment
	k, _ := d.Config.Chain(p.Chain)
	most, err := k.MostCost(p.Asset)
	if err != nil {
		return nil, err
	}
	if token.TokenID != "" && p.Purpose == chain.Credit && p.Chain == network.Source {
		if own := token.Ceiling(w.Transfer.Fee, network.CoinDecimals); !own.IsZero() && (own.Less(most) || most.IsZero()) {
			most = own
		}
	}
	if most.IsZero() {
		return nil, nil
	}
	return &most, nil
}

// ChainCeiling returns a chain's own ceiling of fees, with its unit; empty where there are
// no fees.
func ChainCeiling(c config.Chain) string {
	if c.MaxFee == "" {
		return ""
	}
	return c.MaxFee + " " + feeUnits[c.Kind]
}

// feeUnits are the units of the chains' ceilings, by the section of their configuration.
var feeUnits = map[string]string{"ethereum": "gwei/gas", "bitcoin": "sat/vB"}

// decimalsOf returns the decimals of what is paid: the gateway token, or the source chain's asset.
func decimalsOf(t records.Token, asset chain.Asset) uint8 {
	if asset == t.Asset {
		return t.AssetDecimals
	}
	return t.Decimals
}

// worthOf multiplies an amount by the price of a whole token, "1.25 USD", to cents.
func worthOf(a chain.Amount, decimals uint8, price string) string {
	number, currency, _ := strings.Cut(price, " ")
	one, err := decimal.NewFromString(number)
	if err != nil {
		return ""
	}
	return decimal.NewFromBigInt(a.Uint256().ToBig(), -int32(decimals)).Mul(one).StringFixed(2) + " " + currency
}

// LimitsReport is the name of the daemon's report of the signer's limits.
const LimitsReport = "limits"

// Limits returns how much of the signer's limits is used, and when that was read.
func (d *Session) Limits(ctx context.Context) (r checks.Report, at time.Time, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		r, at, err = LimitsOf(tx)
		return err
	})
	if err == nil && at.IsZero() {
		err = errors.New("no daemon has reported its limits yet: start `gatewayd run`")
	}
	return r, at, err
}

// LimitsOf returns the daemon's last report of the signer's limits, and its time; the zero time
// without one.
func LimitsOf(tx *records.Tx) (r checks.Report, at time.Time, err error) {
	at, ever, err := records.ReadReport(tx, LimitsReport, &r)
	if !ever {
		return checks.Report{}, time.Time{}, err
	}
	return r, at, err
}

// settingConditions are the conditions of the signer's configuration that the daemon has reported.
func settingConditions(tx *records.Tx) ([]status.Condition, error) {
	r, at, err := LimitsOf(tx)
	if err != nil || at.IsZero() || len(r.Lines) > 0 {
		return nil, err
	}
	return []status.Condition{status.Unlimited()}, nil
}
