package dev_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
)

// TestBusyGatewayIsAskedAgain: a busy gateway is asked again, one that refuses is not.
func TestBusyGatewayIsAskedAgain(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked++; {
		case r.URL.Path != "/deposit-info":
			fmt.Fprint(w, `{"code":1,"subCode":1002,"msg":"unknown token"}`)
		case asked == 1:
			fmt.Fprint(w, `{"code":2,"subCode":2002,"msg":"busy"}`)
		default:
			fmt.Fprint(w, `{"code":0,"subCode":0,"data":{"depositAddress":"0x1"}}`)
		}
	}))
	defer s.Close()
	u := dev.NewGatewayUser(s.URL)
	info, err := u.DepositInfo(t.Context(), "t", "w")
	require.NoError(t, err)
	require.Equal(t, "0x1", info.DepositAddress)
	require.Equal(t, 2, asked)
	require.ErrorContains(t, u.Get(t.Context(), "/withdraw-info", nil, &struct{}{}), "answers code 1: unknown token")
	require.Equal(t, 3, asked)
}
