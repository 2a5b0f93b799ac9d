package client

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

// results answers each method with its result.
func results(t *testing.T, byMethod map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&got))
		answer := map[string]any{"jsonrpc": "2.0", "id": got.ID}
		if result, known := byMethod[got.Method]; known {
			answer["result"] = json.RawMessage(result)
		} else {
			answer["error"] = map[string]any{"code": -32601, "message": "The method " + got.Method + " does not exist/is not available"}
		}
		w.Header().Set("Content-Type", "application/json")
		require.NoError(t, json.NewEncoder(w).Encode(answer))
	}
}

func TestTradeMining(t *testing.T) {
	const info, fees = "dex_getCurrentMiningInfo", "dex_getCurrentFeesValidForMining"
	one := func(n uint64) map[uint8]uint256.Int { return map[uint8]uint256.Int{1: *uint256.NewInt(n)} }
	for name, tt := range map[string]struct {
		answers map[string]string
		want    TradeMining
	}{
		"VX and fees": {map[string]string{info: `{"total":"9","feeMineDetail":{"1":"7"}}`, fees: `{"1":"5"}`}, TradeMining{one(7), one(5)}},
		"no VX":       {map[string]string{info: `{"feeMineDetail":null}`, fees: `{"1":"5"}`}, TradeMining{amounts(nil), one(5)}},
	} {
		got, err := dial(t, results(t, tt.answers)).TradeMining(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, tt.want, got, name)
	}
	_, err := dial(t, results(t, nil)).TradeMining(t.Context())
	require.ErrorIs(t, err, ErrMethod)
	for name, answers := range map[string]map[string]string{
		"fifth type":   {info: `{"feeMineDetail":{"5":"7"}}`, fees: `{}`},
		"type zero":    {info: `{}`, fees: `{"0":"7"}`},
		"no number":    {info: `{"feeMineDetail":{"1":"1e3"}}`, fees: `{}`},
		"a negative":   {info: `{}`, fees: `{"1":"-1"}`},
		"name of none": {info: `{"feeMineDetail":{"VITE":"7"}}`, fees: `{}`},
	} {
		_, err := dial(t, results(t, answers)).TradeMining(t.Context())
		require.Error(t, err, name)
	}
}
