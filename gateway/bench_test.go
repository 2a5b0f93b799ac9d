package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/recordstest"
)

// BenchmarkGet sets the gateway's answers beside a bare echo handler with the same payload (design.md section 8: at most 2x for one row, 5x for
// twenty).
func BenchmarkGet(b *testing.B) {
	r := setup(b)
	block := r.Mine(recordstest.Source, "")
	r.Do(func(tx *records.Tx) error {
		for range 30 {
			if _, _, err := tx.SeeTransfer(r.Incoming(records.Deposit, 1000, block)); err != nil {
				return err
			}
		}
		return nil
	})
	for name, url := range map[string]string{
		"meta-info":    at(eth, "/meta-info", "tokenId", token),
		"deposit-info": at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice),
		"flat-fee":     at(eth, "/withdraw-fee", "tokenId", token, "walletAddress", alice, "amount", "1000"),
		"records-20":   list("/deposit-records", alice, 1, 20),
	} {
		payload := r.get(url)
		bare := echo.New()
		bare.GET("/*", func(c echo.Context) error { return c.JSON(http.StatusOK, payload.envelope) })
		plain := httptest.NewServer(bare)
		defer plain.Close()
		b.Run(name+"/gateway", func(b *testing.B) { hammer(b, r.client, r.url+url) })
		b.Run(name+"/bare", func(b *testing.B) { hammer(b, plain.Client(), plain.URL+url) })
	}
}

func hammer(b *testing.B, client *http.Client, url string) {
	for b.Loop() {
		response, err := client.Get(url)
		require.NoError(b, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(b, err)
		response.Body.Close()
		require.Equal(b, http.StatusOK, response.StatusCode)
	}
}
