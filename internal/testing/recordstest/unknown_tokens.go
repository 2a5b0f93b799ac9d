package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/view"
)

// testUnknownTokens: transfers of tokens that no network has served are counted and filtered,
// and need no operator. Tokens that were served once, and coin, do.
func testUnknownTokens(t *testing.T, url string) {
	r := newRig(t, url)
	begin, seq := r.Now(), r.historyEnd()
	served := records.Network{Source: Source, Exchange: Exchange, Tokens: []records.Token{{TokenID: Token, Asset: "0xserved"}}}
	for range 2 {
		r.Do(func(tx *records.Tx) error { return tx.Transfers().ServeTokens(served) })
	}
	held := map[chain.Asset]uint64{}
	for _, asset := range []chain.Asset{"0xserved", "0xspam", "0xspam2", chain.Native} {
		in := r.Incoming(records.Deposit, 500, r.Mine(Source, ""))
		in.Asset, in.Token, in.Owner, in.Payee, in.Net, in.Policy = asset, "", "", "", chain.Amount{}, records.Policy{}
		in.Reason = records.ReasonUnknownToken
		r.Do(func(tx *records.Tx) (err error) {
			if in, _, err = tx.Transfers().See(in); err != nil {
				return err
			}
			unknown, err := tx.Transfers().OfUnknownToken(in)
			require.NoError(t, err)
			require.Equal(t, asset == "0xspam" || asset == "0xspam2", unknown, asset)
			held[asset] = in.ID
			return tx.Transfers().Move(in.ID, records.Seen, records.Held, in.Reason)
		})
	}
	r.See(func(tx *records.Tx) error {
		transfers, tokens, err := tx.Transfers().UnknownTokens(begin)
		require.NoError(t, err)
		require.Equal(t, [2]uint64{2, 2}, [2]uint64{transfers, tokens})
		seen, err := books.UnknownTokensBetween(tx, seq, r.historyEnd())
		require.NoError(t, err)
		require.Len(t, seen, 1)
		require.EqualValues(t, 2, seen[0].Count)
		list, err := view.Records(tx, view.Filter{Limit: 9, UnknownTokens: true})
		require.NoError(t, err)
		require.Equal(t, []uint64{held["0xspam2"], held["0xspam"]}, ids(list))
		list, err = view.Records(tx, view.Filter{Limit: 9, NeedsOperator: true})
		require.NoError(t, err)
		require.Equal(t, []uint64{held[chain.Native], held["0xserved"]}, ids(list))
		return nil
	})
}
