package gateway

import (
	"context"
	"errors"

	"gatewayd/chain"
	"gatewayd/records"
)

// verification is the data of /withdraw-address/verification.
type verification struct {
	IsValidAddress bool   `json:"isValidAddress"`
	Message        string `json:"message,omitempty"`
}

// verify judges an address as the watcher will when the money comes. A bad address is an answer,
// not an error: after an error the web wallet never enables its button again
// (docs/gateway-clients.md 4.2).
func (n *network) verify(ctx context.Context, q query) (any, error) {
	address, err := q.withdrawAddress()
	if err != nil {
		return nil, err
	}
	label, err := q.label()
	switch {
	case err != nil:
		return nil, err
	case address == "":
		return n.invalid(q, "address_empty"), nil
	case tooLong(address):
		return n.invalid(q, "address_invalid"), nil
	case tooLong(label):
		return n.invalid(q, "label_invalid"), nil
	}
	payee, err := n.source.CheckAddress(address, label)
	if err != nil {
		return n.invalid(q, wordOf(err)), nil
	}
	ours, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (bool, error) { return isOurs(tx, n.Network.Source, payee) })
	if err != nil {
		return nil, err
	}
	if ours {
		return n.invalid(q, "address_ours"), nil
	}
	return verification{IsValidAddress: true}, nil
}

// withdrawAddress reads what the user has typed so far, which may be nothing. The parameter itself
// must be there.
func (q query) withdrawAddress() (string, error) {
	if !q.values.Has("withdrawAddress") {
		return "", refuse(parameterMissing, "{field}", "withdrawAddress")
	}
	return q.anyLength("withdrawAddress")
}

// label reads the value of the user's label. Clients send it as label; the published interface
// calls the parameter labelName, where a caller may have put the name itself. A token of type 0 has
// no label, whatever is sent.
func (q query) label() (string, error) {
	label, err := q.anyLength("label")
	if err != nil {
		return "", err
	}
	named, err := q.anyLength("labelName")
	switch {
	case err != nil || q.token.Type != records.TypeLabel:
		return "", err
	case label == "" && named != q.token.LabelName:
		return named, nil
	}
	return label, nil
}

func (n *network) invalid(q query, word string) verification {
	return verification{Message: n.texts.text(q.lang, word)}
}

func wordOf(err error) string {
	switch {
	case errors.Is(err, chain.ErrLabel):
		return "label_invalid"
	case errors.Is(err, chain.ErrOtherNetwork):
		return "address_other_network"
	}
	return "address_invalid"
}
