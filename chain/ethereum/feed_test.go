package ethereum_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
)

// feed deploys a price feed.
func (b *bundle) feed(decimals uint8) common.Address {
	b.Helper()
	f := contracts.NewTestFeed()
	return b.deploy(contracts.TestFeedMetaData.Bin, f.PackConstructor(decimals)...)
}

func (b *bundle) post(feed common.Address, answer *big.Int, at int64) {
	b.Helper()
	b.call(feed, 0, contracts.NewTestFeed().PackPost(answer, big.NewInt(at)))
	b.mine(1)
}

func TestFeed(t *testing.T) {
	b := setup(t)
	feed := b.feed(8)
	_, err := b.chain.Feed(t.Context(), feed.Hex())
	require.ErrorContains(t, err, "not above zero", "nothing was posted yet")

	b.post(feed, big.NewInt(310_050_000_000), 1_700_000_000)
	got, err := b.chain.Feed(t.Context(), feed.Hex())
	require.NoError(t, err)
	require.Equal(t, ethereum.Reading{Answer: chain.NewAmount(310_050_000_000), Decimals: 8, Updated: time.Unix(1_700_000_000, 0).UTC()}, got)

	refused := []struct {
		name   string
		answer *big.Int
		at     int64
		want   string
	}{
		{"zero", new(big.Int), 1_700_000_000, "not above zero"},
		{"below zero", big.NewInt(-1), 1_700_000_000, "not above zero"},
		{"no price is so large", new(big.Int).Lsh(big.NewInt(1), 160), 1_700_000_000, "bits"},
		{"not complete", big.NewInt(1), 0, "not complete"},
		{"no time", big.NewInt(1), 253402300800, "year 9999"},
	}
	for _, tt := range refused {
		b.post(feed, tt.answer, tt.at)
		_, err := b.chain.Feed(t.Context(), feed.Hex())
		require.ErrorContains(t, err, tt.want, tt.name)
		require.ErrorIs(t, err, chain.ErrUnavailable, tt.name)
	}

	b.post(feed, big.NewInt(1), 1_700_000_000)
	b.call(feed, 0, contracts.NewTestFeed().PackBegin())
	b.mine(1)
	_, err = b.chain.Feed(t.Context(), feed.Hex())
	require.ErrorContains(t, err, "of an earlier round")

	b.post(feed, big.NewInt(1), 1_700_000_000)
	b.call(feed, 0, contracts.NewTestFeed().PackSetDecimals(37))
	b.mine(1)
	_, err = b.chain.Feed(t.Context(), feed.Hex())
	require.ErrorContains(t, err, "37 decimals")
}

func TestFeedThatIsNone(t *testing.T) {
	b := setup(t)
	for _, address := range []string{"", "0x", "eth", strings.Repeat("0", 40)} {
		_, err := b.chain.Feed(t.Context(), address)
		require.ErrorContains(t, err, "price feed", address)
	}
	_, err := b.chain.Feed(t.Context(), outsider("nobody").Hex())
	require.ErrorContains(t, err, "answers 0 bytes", "no contract")
	_, err = b.chain.Feed(t.Context(), string(b.usdt))
	require.Error(t, err, "a token has decimals and no rounds")
}

// One node of three that lies moves neither the price nor its time.
func TestFeedWithALiar(t *testing.T) {
	b := setup(t)
	feed := b.feed(8)
	b.post(feed, big.NewInt(1000), 1_700_000_000)
	words := func(answer, at int64) string {
		text := "0x"
		for _, n := range []int64{9, answer, at, at, 9} {
			text += common.Bytes2Hex(common.BigToHash(big.NewInt(n)).Bytes())
		}
		return text
	}
	for _, told := range []string{words(1, 1), words(1<<60, 253402300799), "0x", words(0, 0)} {
		suspicious := b.suspicious(2, newLiar(t, b.dev.URL(), func(q request, result any) any {
			if text, ok := result.(string); ok && q.Method == "eth_call" && len(text) > 66 {
				return told
			}
			return result
		}))
		got, err := suspicious.Feed(t.Context(), feed.Hex())
		require.NoError(t, err)
		require.Equal(t, []any{chain.NewAmount(1000), int64(1_700_000_000)}, []any{got.Answer, got.Updated.Unix()}, told)
	}
}
