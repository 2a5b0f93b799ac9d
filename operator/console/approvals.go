package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-webauthn/webauthn/protocol"

	"gatewayd/chain"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/approval"
)

// shownApprovals bounds the list, for each reason.
const shownApprovals = 200

// waiting is a payment that people may approve: everything that their signature covers, and what
// they may want to know besides.
type waiting struct {
	Record   uint64         `json:"record"`
	Payment  uint64         `json:"payment"`
	State    string         `json:"state"`
	Reason   records.Reason `json:"reason"`
	Since    string         `json:"since"`
	Network  string         `json:"network"`
	Token    string         `json:"token"`
	Chain    chain.ID       `json:"chain"`
	Account  string         `json:"account"`
	Purpose  string         `json:"purpose"`
	Asset    chain.Asset    `json:"asset"`
	Amount   chain.Amount   `json:"amount"`
	Shown    string         `json:"shown"` // the amount with its symbol
	Payee    string         `json:"payee"`
	Label    string         `json:"label"`
	User     string         `json:"user"`
	Sender   string         `json:"sender"`
	InChain  chain.ID       `json:"inChain"`
	InTx     string         `json:"inTx"`
	InHeight uint64         `json:"inHeight"`
	Came     string         `json:"came"` // what came in, with its symbol

	In       operator.Incoming `json:"in"`  // its block, and whether that is final
	Fee      chain.Amount      `json:"fee"` // in units of the token
	Verdict  string            `json:"verdict,omitempty"`
	Earlier  *records.Earlier  `json:"earlier,omitempty"` // payouts to the payee
	Approved []approved        `json:"approved"`

	Approvers []string `json:"approvers"` // who may approve, by this configuration: the signer's counts

	operator.PaymentCost
	Signed []approval.Field `json:"signed"` // everything that the signature covers, as it is signed
}

// approved is one that there is already, as far as this process knows: the signer counts.
type approved struct {
	Key     string `json:"key"`
	Name    string `json:"name,omitempty"` // of the user of the console whose passkey it is, or of the approver in this configuration
	Expires string `json:"expires"`
}

func (c *Console) approvals(r request) error {
	list, err := r.Session.WaitingPayments(r.Request().Context(), shownApprovals)
	if err != nil {
		return err
	}
	out := make([]waiting, len(list))
	for i, w := range list {
		if out[i], err = c.shown(r, w); err != nil {
			return err
		}
	}
	return r.JSON(http.StatusOK, out)
}

func (c *Console) shown(r request, w operator.Waiting) (waiting, error) {
	p, t := w.Payment, w.Transfer
	cost, err := r.Session.CostOf(r.Request().Context(), w, c.Now())
	if err != nil {
		return waiting{}, err
	}
	out := waiting{
		Record: t.ID, Payment: p.ID, State: string(p.State), Reason: p.Reason, Since: p.ChangedAt.UTC().Format(time.RFC3339), Network: p.Network, Token: t.Token,
		Chain: p.Chain, Account: p.Account, Purpose: string(p.Purpose), Asset: p.Asset, Amount: p.Amount, Shown: r.Session.Config.AssetAmount(p.Chain, p.Asset, p.Amount),
		Payee: p.Payee, Label: p.PayeeLabel, User: t.Owner, Sender: t.From, InChain: t.Chain, InTx: t.Tx, InHeight: t.Height,
		Came: r.Session.Config.AssetAmount(t.Chain, t.Asset, t.Amount), In: w.In, Fee: t.Fee, Verdict: r.Session.Config.InWholeUnits(w.Verdict), Earlier: w.Earlier, Approved: []approved{}, Approvers: r.Session.ApproverNames(),
		PaymentCost: cost, Signed: approval.Fields(p.Chain, w.Claim),
	}
	for _, a := range w.Known {
		name, _, _ := r.Session.Approver(a.Key) // the signer's own configuration may name others
		out.Approved = append(out.Approved, approved{a.Key, name, time.Unix(a.Expires, 0).UTC().Format(time.RFC3339)})
	}
	return out, nil
}

// toApprove is the input of an approver's signature: the payment, the text that the signature
// covers, and the options of navigator.credentials.get().
type toApprove struct {
	Order   waiting                                    `json:"order"`
	Text    string                                     `json:"text"`
	Expires int64                                      `json:"expires"`
	Nonce   string                                     `json:"nonce"`
	Options protocol.PublicKeyCredentialRequestOptions `json:"options"`
}

func (c *Console) askApproval(r request) error {
	w, err := c.waitingOf(r)
	if err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	mine, err := passkeysOf(r)
	if err != nil {
		return err
	}
	if len(mine) == 0 {
		return refusal(http.StatusConflict, "you have no passkey: register one and add its entry to signer.approvals.approvers, or use `gatewayd approve` with a key file")
	}
	nonce, err := approval.NewNonce()
	if err != nil {
		return err
	}
	order, err := c.shown(r, w)
	if err != nil {
		return err
	}
	expires := c.Now().Add(approval.Lasts).Unix()
	return r.JSON(http.StatusOK, toApprove{
		Order: order, Text: string(approval.Text(w.Payment.Chain, w.Claim, expires, nonce)), Expires: expires, Nonce: nonce,
		Options: protocol.PublicKeyCredentialRequestOptions{
			Challenge: approval.Challenge(w.Payment.Chain, w.Claim, expires, nonce), Timeout: int(challengeLasts.Milliseconds()), RelyingPartyID: site.RP,
			AllowedCredentials: descriptors(mine), UserVerification: protocol.VerificationRequired,
		},
	})
}

func (c *Console) waitingOf(r request) (w operator.Waiting, err error) {
	id, err := strconv.ParseUint(r.Param("id"), 10, 63)
	if err != nil {
		return w, refusal(http.StatusBadRequest, "id: must be the number of a record")
	}
	w, err = r.Session.WaitingPayment(r.Request().Context(), id)
	if errors.Is(err, operator.ErrNothingWaits) {
		return w, refusal(http.StatusConflict, err.Error())
	}
	return w, err
}

// signedApproval is the result.
type signedApproval struct {
	Expires    int64           `json:"expires"`
	Nonce      string          `json:"nonce"`
	Credential json.RawMessage `json:"credential"`
}

// approve takes what the user's passkey has signed of the payment as it waits now. The signer
// verifies it again, by its own configuration.
func (c *Console) approve(r request) error {
	var given signedApproval
	if err := readBody(r, &given); err != nil {
		return err
	}
	w, err := c.waitingOf(r)
	if err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	signed, err := approval.ParseCredential(given.Credential)
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error())
	}
	key, err := c.ownKey(r, given.Credential)
	if err != nil {
		return err
	}
	if _, _, err := r.Session.Approver(key.String()); err != nil {
		return refusal(http.StatusForbidden, "this passkey cannot approve: it is not in signer.approvals.approvers")
	}
	a := approval.FromPasskey(key, signed.Assertion, given.Expires, given.Nonce)
	if err := approval.VerifyPasskey(site, key, a, w.Payment.Chain, w.Claim, c.Now()); err != nil {
		return refusal(http.StatusUnauthorized, err.Error())
	}
	if err := r.Session.ApproveAs(r.ctx(), w, a); err != nil {
		return err
	}
	return c.record(r.named(r.Param("id")))
}

// ownKey is the public key of the user's passkey that has signed.
func (c *Console) ownKey(r request, credential json.RawMessage) (key approval.PasskeyKey, err error) {
	var p records.Passkey
	err = r.Session.Store.View(r.Request().Context(), func(tx *records.Tx) error {
		p, err = ownerOf(tx, credential)
		return err
	})
	if errors.Is(err, records.ErrNotFound) || err == nil && p.User != r.user.Name {
		return key, refusal(http.StatusForbidden, "this is not one of your passkeys")
	}
	if err != nil {
		return key, err
	}
	return approval.ParsePasskeyKey(p.Key)
}

// reject sends the transfer of a payment that waits back.
func (c *Console) reject(r request) error {
	id := r.Param("id")
	r.SetParamNames("id", "order")
	r.SetParamValues(id, "reject")
	return c.orderRecord(r)
}
