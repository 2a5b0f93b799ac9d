package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/operator"
	"gatewayd/records"
)

// TestApproversSeeWhatTheySign: no text in the database can overwrite the displayed payment.
func TestApproversSeeWhatTheySign(t *testing.T) {
	var out bytes.Buffer
	showWaiting(streams{stdout: &out}, &operator.Session{}, operator.Waiting{
		Payment:  records.Payment{ID: 7, Payee: "0xthief", Chain: "eth", Asset: chain.Native, Amount: chain.NewAmount(5), Purpose: chain.Credit},
		Transfer: records.Transfer{Transfer: chain.Transfer{Tx: "0xin\x1b[4A\r  to      0xuser\x1b[4B", From: "vite_a\n  to      0xuser"}},
	})
	require.Contains(t, out.String(), "  to      0xthief")
	require.NotContains(t, out.String(), "\x1b")
	require.NotContains(t, out.String(), "\r")
	require.Equal(t, 8, strings.Count(out.String(), "\n"))
}
