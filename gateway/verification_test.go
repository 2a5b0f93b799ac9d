package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

func TestVerification(t *testing.T) {
	r := setup(t)
	r.Do(func(tx *records.Tx) error {
		return tx.Accounts().Ensure(records.Account{Chain: recordstest.Source, Account: "0xhotel", Kind: records.KindHot, Network: recordstest.Network, KeyPath: "m/9"})
	})
	const (
		valid = `{"isValidAddress":true}`
		bad   = `{"isValidAddress":false,"message":"This is not a valid address on this network."}`
		other = `{"isValidAddress":false,"message":"This address belongs to another network."}`
		empty = `{"isValidAddress":false,"message":"Please enter an address."}`
		ours  = `{"isValidAddress":false,"message":"This address belongs to the gateway. Please use your own."}`
		label = `{"isValidAddress":false,"message":"This is not a valid label."}`
	)
	tests := []struct {
		name   string
		token  string
		params []string
		want   string
	}{
		{"valid", token, []string{"withdrawAddress", "0xuser"}, valid},
		{"valid in capitals", token, []string{"withdrawAddress", "0XUSER"}, valid},
		{"invalid", token, []string{"withdrawAddress", "user"}, bad},
		{"a contract's", token, []string{"withdrawAddress", "0xcontract"}, bad},
		{"of another network", token, []string{"withdrawAddress", "other1user"}, other},
		{"empty", token, []string{"withdrawAddress", ""}, empty},
		{"256 characters", token, []string{"withdrawAddress", "0x" + strings.Repeat("a", 254)}, valid},
		{"a pasted text", token, []string{"withdrawAddress", "0x" + strings.Repeat("a", 10_000)}, bad},
		{"a pasted text of other letters", token, []string{"withdrawAddress", strings.Repeat("币", 257)}, bad},
		{"a pasted label", labelled, []string{"withdrawAddress", "0xuser", "label", strings.Repeat("7", 257)}, label},
		{"256 characters of other letters", labelled, []string{"withdrawAddress", "0xuser", "label", strings.Repeat("币", 256)}, valid},
		{"a pasted label under its published name", labelled, []string{"withdrawAddress", "0xuser", "labelName", strings.Repeat("7", 257)}, label},
		{"a pasted label for type 0", token, []string{"withdrawAddress", "0xuser", "label", strings.Repeat("7", 257)}, valid},
		{"label edited before the address", labelled, []string{"withdrawAddress", "", "label", "7"}, empty},
		{"ours", token, []string{"withdrawAddress", "0XHOTEL"}, ours},
		{"label as clients send it", labelled, []string{"withdrawAddress", "0xuser", "label", "7"}, valid},
		{"wrong label", labelled, []string{"withdrawAddress", "0xuser", "label", "!"}, label},
		{"label under its published name", labelled, []string{"withdrawAddress", "0xuser", "labelName", "!"}, label},
		{"the label's name is no label", labelled, []string{"withdrawAddress", "0xuser", "labelName", "Memo"}, valid},
		{"label goes before labelName", labelled, []string{"withdrawAddress", "0xuser", "label", "7", "labelName", "!"}, valid},
		{"no label", labelled, []string{"withdrawAddress", "0xuser"}, valid},
		{"empty label", labelled, []string{"withdrawAddress", "0xuser", "label", ""}, valid},
		{"type 0 has none", token, []string{"withdrawAddress", "0xuser", "label", "!"}, valid},
	}
	for _, tt := range tests {
		got := r.get(at(eth, "/withdraw-address/verification", append([]string{"tokenId", tt.token}, tt.params...)...))
		require.JSONEq(t, ok(tt.want), got.body, tt.name)
	}
	chineseAnswer := r.get(at(eth, "/withdraw-address/verification", "tokenId", token, "withdrawAddress", "x"), "lang", "zh-cn")
	require.Equal(t, "不是该网络的有效地址。", chineseAnswer.data(t)["message"])
	require.Equal(t, int(tokenUnknown), r.get(at(eth, "/withdraw-address/verification", "tokenId", "x", "withdrawAddress", "0xuser")).SubCode)
}

func TestWordOf(t *testing.T) {
	require.Equal(t, "label_invalid", wordOf(chain.ErrLabel))
	require.Equal(t, "address_invalid", wordOf(chain.ErrAddress))
}
