package client

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

const (
	alice = "vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e"
	bob   = "vite_9010ff594b2aa3b14f2b7f0e9ef7eaba6f13fafedeac49d8e7"
)

// exchange is one recorded request with its answer; the recordings are those that the server's
// replay test uses.
type exchange struct {
	Label   string `json:"label"`
	Request struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	} `json:"request"`
	Response struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	} `json:"response"`
}

func recordings(t testing.TB) []exchange {
	return append(recordingsIn(t, "ledger"), recordingsIn(t, "dex")...)
}

func recordingsIn(t testing.TB, name string) []exchange {
	f, err := os.Open("../rpc/testdata/" + name + ".jsonl")
	require.NoError(t, err)
	defer f.Close()
	var all []exchange
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e exchange
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		all = append(all, e)
	}
	require.NoError(t, lines.Err())
	return all
}

// recorded is a client of a node that knows exactly the exchange with the label: it expects that
// request, gives that answer.
func recorded(t *testing.T, label string) *Client {
	for _, e := range recordings(t) {
		if e.Label == label {
			return dial(t, answering(t, e))
		}
	}
	require.FailNow(t, "no recording", label)
	return nil
}

func answering(t *testing.T, e exchange) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&got))
		require.Equal(t, e.Request.Method, got.Method)
		if len(got.Params) > 0 {
			require.JSONEq(t, string(e.Request.Params), string(got.Params))
		}
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{"jsonrpc": "2.0", "id": got.ID, "result": e.Response.Result}
		if e.Response.Error != nil {
			answer = map[string]any{"jsonrpc": "2.0", "id": got.ID, "error": e.Response.Error}
		}
		require.NoError(t, json.NewEncoder(w).Encode(answer))
	}
}

func dial(t *testing.T, node http.Handler) *Client {
	return dialWith(t, node, Options{Timeout: time.Minute})
}

func dialWith(t *testing.T, node http.Handler, o Options) *Client {
	server := httptest.NewServer(node)
	t.Cleanup(server.Close)
	c, err := Dial(t.Context(), server.URL, o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func addr(t testing.TB, s string) core.Address {
	a, err := core.ParseAddress(s)
	require.NoError(t, err)
	return a
}

func hash(t testing.TB, s string) core.Hash {
	h, err := core.ParseHash(s)
	require.NoError(t, err)
	return h
}

func token(t testing.TB, s string) core.TokenID {
	id, err := core.ParseTokenID(s)
	require.NoError(t, err)
	return id
}

func TestAccountBlocks(t *testing.T) {
	ctx := t.Context()
	sent := hash(t, "cebb2c6e3d3480a5f85d5c2fcd62062e7a511220ed85ff62764291beda2521d6")

	b, err := recorded(t, "latest block of an account (genesis type 7)").LatestAccountBlock(ctx, addr(t, alice))
	require.NoError(t, err)
	require.Equal(t, core.GenesisReceive, b.BlockType)
	require.True(t, b.Amount.IsZero(), "null")
	require.EqualValues(t, 9, b.Confirmations)
	require.EqualValues(t, 1, b.FirstSnapshotHeight)

	b, err = recorded(t, "latest block of an unused account").LatestAccountBlock(ctx, addr(t, bob))
	require.NoError(t, err)
	require.Nil(t, b)

	b, err = recorded(t, "block by hash, in a snapshot").AccountBlockByHash(ctx, sent)
	require.NoError(t, err)
	require.True(t, b.IsSend())
	require.EqualValues(t, 2, b.Height)
	require.Equal(t, addr(t, bob), b.ToAddress)
	require.Equal(t, "1000000000000000000", b.Amount.Dec())
	require.Equal(t, core.VITE, b.TokenID)
	require.EqualValues(t, 22260, b.QuotaByStake)
	require.Equal(t, []byte{0x0b, 0xc3, 0}, b.Data[:3])
	require.EqualValues(t, 3, b.Confirmations)
	require.EqualValues(t, 10, b.FirstSnapshotHeight)
	require.EqualValues(t, 1795238728, b.Timestamp)
	require.Nil(t, b.ReceiveBlockHash)
	require.Equal(t, "VITE", b.TokenInfo.Symbol)

	b, err = recorded(t, "the PoW receive block").AccountBlockByHash(ctx, hash(t, "419583e1665f9a2cb74a7925f0442487d36dda681b9818801b145d97d3b20fd8"))
	require.NoError(t, err)
	require.True(t, b.BlockType.IsReceive())
	require.Equal(t, big.NewInt(67108863), b.Difficulty)
	require.Len(t, b.Nonce, 8)
	require.Equal(t, sent, b.SendBlockHash)

	b, err = recorded(t, "the send block now names its receive block").AccountBlockByHash(ctx, sent)
	require.NoError(t, err)
	require.Equal(t, hash(t, "419583e1665f9a2cb74a7925f0442487d36dda681b9818801b145d97d3b20fd8"), *b.ReceiveBlockHash)
	require.EqualValues(t, 1, b.ReceiveBlockHeight)

	b, err = recorded(t, "the asset contract's receive block").AccountBlockByHash(ctx, hash(t, "200c53298f30144e355e9bd9eda110f97e27fa74f1053662961bf4d54d699d56"))
	require.NoError(t, err)
	require.Len(t, b.Triggered, 1)
	require.Equal(t, core.SendReissue, b.Triggered[0].BlockType)
	require.Zero(t, b.Triggered[0].Height)
	require.Equal(t, "1000000", b.Triggered[0].Amount.Dec())
	require.NotNil(t, b.VMLogHash)

	list, err := recorded(t, "blocks of one token").AccountBlocks(ctx, addr(t, alice), nil, &core.VITE, 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	list, err = recorded(t, "blocks from a hash on").AccountBlocks(ctx, addr(t, alice), &sent, nil, 2)
	require.NoError(t, err)
	require.Len(t, list, 2)
	list, err = recorded(t, "unreceived of the receiver").UnreceivedBlocks(ctx, addr(t, bob), 0, 10)
	require.NoError(t, err)
	require.Equal(t, sent, list[0].Hash)
	b, err = recorded(t, "block by height (string)").AccountBlockByHeight(ctx, addr(t, alice), 2)
	require.NoError(t, err)
	require.Equal(t, sent, b.Hash)
}

func TestAccounts(t *testing.T) {
	ctx := t.Context()
	info, err := recorded(t, "account info with two tokens").AccountInfo(ctx, addr(t, bob))
	require.NoError(t, err)
	require.EqualValues(t, 3, info.BlockCount)
	require.Len(t, info.Balances, 2)
	require.Equal(t, "1000000000000000000", amountOf(info.Balances[core.VITE]))

	info, err = recorded(t, "account info of an unused account").AccountInfo(ctx, addr(t, bob))
	require.NoError(t, err)
	require.Zero(t, info.BlockCount)
	require.Empty(t, info.Balances)

	carol := addr(t, "vite_b57b8fed8c3608546aa9c1825bdd6cb0b953133ddf10cd47d2")
	infos, err := recorded(t, "unreceived summary in batch").UnreceivedSummaries(ctx, []core.Address{addr(t, bob), carol})
	require.NoError(t, err)
	require.Len(t, infos, 2)

}

func amountOf(b Balance) string { return b.Amount.Dec() }

func TestSnapshots(t *testing.T) {
	ctx := t.Context()
	height, err := recorded(t, "snapshot height").SnapshotHeight(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 9, height)

	b, err := recorded(t, "latest snapshot block").LatestSnapshotBlock(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 9, b.Height)
	require.EqualValues(t, uint64(11298415850377678296), b.Seed, "a number above 2^53 stays exact")
	require.Equal(t, time.Unix(1795238727, 0).UTC(), b.Time)

	b, err = recorded(t, "snapshot block by height").SnapshotBlockByHeight(ctx, 2)
	require.NoError(t, err)
	require.EqualValues(t, 2, b.Height)
}

func TestPrices(t *testing.T) {
	ctx := t.Context()
	to := addr(t, bob)
	pow, err := recorded(t, "PoW difficulty for the receive").PoWDifficulty(ctx, Intent{Address: to, BlockType: core.Receive})
	require.NoError(t, err)
	require.Equal(t, PoW{21000, big.NewInt(67108863), false}, pow)

	alices := addr(t, alice)
	pow, err = recorded(t, "PoW difficulty when the stake suffices").PoWDifficulty(ctx, Intent{
		Address: alices, BlockType: core.SendCall, ToAddress: &to,
		PreviousHash: hash(t, "cebb2c6e3d3480a5f85d5c2fcd62062e7a511220ed85ff62764291beda2521d6")})
	require.NoError(t, err)
	require.Nil(t, pow.Difficulty)
}

func TestContracts(t *testing.T) {
	ctx := t.Context()
	info, err := recorded(t, "token info by id").TokenInfo(ctx, token(t, "tti_6b894977b69ad0b7f2e86469"))
	require.NoError(t, err)
	require.Equal(t, "Gateway Test Token", info.Name)
	require.EqualValues(t, 6, info.Decimals)
	require.Equal(t, "1000000000000", info.MaxSupply.Dec())
	require.True(t, info.IsReIssuable)

	info, err = recorded(t, "token info by unknown id").TokenInfo(ctx, token(t, "tti_82b16ac306f0d98bf9ccf7e7"))
	require.NoError(t, err)
	require.Nil(t, info)

	tokens, err := recorded(t, "token info by owner").TokensByOwner(ctx, addr(t, alice))
	require.NoError(t, err)
	require.Len(t, tokens, 1)

	quota, err := recorded(t, "quota of a staked account").Quota(ctx, addr(t, alice))
	require.NoError(t, err)
	require.EqualValues(t, 189000, quota.Current)
	require.Equal(t, "10000000000000000000000", quota.Stake.Dec())

	contract, err := recorded(t, "contract info of a built-in contract").ContractInfo(ctx, core.AssetContract)
	require.NoError(t, err)
	require.EqualValues(t, 10, contract.QuotaMultiplier)
	contract, err = recorded(t, "contract info of a user").ContractInfo(ctx, addr(t, alice))
	require.NoError(t, err)
	require.Nil(t, contract)
}

func TestUpgrades(t *testing.T) {
	upgrades, err := recorded(t, "upgrade points").Upgrades(t.Context())
	require.NoError(t, err)
	require.Equal(t, Upgrade{"14", 1, 14}, upgrades[13])
}

func TestLogFilterOnTheWire(t *testing.T) {
	raw, err := json.Marshal(LogFilter{Ranges: map[core.Address]HeightRange{core.AssetContract: {1, 0}}, Size: 10})
	require.NoError(t, err)
	require.JSONEq(t, `{"addressHeightRange":{"`+core.AssetContract.String()+`":{"fromHeight":"1","toHeight":"0"}},"pageIndex":0,"pageSize":10}`, string(raw))
}

// Every recorded block is read without loss: what was read has the hash that the node names.
func TestRecordedBlocksKeepTheirHash(t *testing.T) {
	seen := 0
	for _, e := range recordings(t) {
		var b AccountBlock
		if json.Unmarshal(e.Response.Result, &b) != nil || b.Hash.IsZero() || b.Height == 0 || b.BlockType == 0 || b.Address.IsContract() || b.BlockType == core.GenesisReceive {
			continue
		}
		signed := core.AccountBlock{
			BlockType: b.BlockType, Height: b.Height, PreviousHash: b.PreviousHash, Address: b.Address, ToAddress: b.ToAddress,
			Amount: b.Amount, TokenID: b.TokenID, SendBlockHash: b.SendBlockHash, Fee: b.Fee, Nonce: b.Nonce, Difficulty: b.Difficulty,
			Hash: b.Hash, PublicKey: b.PublicKey, Signature: b.Signature,
		}
		if b.IsSend() {
			signed.Data = b.Data
		}
		require.NoError(t, signed.Verify(), e.Label)
		seen++
	}
	require.Greater(t, seen, 5)
}

func TestOlderNames(t *testing.T) {
	var b AccountBlock
	h := strings.Repeat("01", 32)
	require.NoError(t, json.Unmarshal([]byte(`{"blockType":4,"height":"7","prevHash":"`+h+`","accountAddress":"`+alice+`",
		"fromBlockHash":"`+h+`","quota":"5","quotaUsed":"6","confirmedTimes":"8","confirmedHash":"`+h+`","logHash":"`+h+`",
		"sendBlockList":[{"blockType":3,"height":"0","hash":"`+h+`"}]}`), &b))
	require.Equal(t, addr(t, alice), b.Address)
	require.Equal(t, hash(t, h), b.PreviousHash)
	require.Equal(t, hash(t, h), b.SendBlockHash)
	require.Equal(t, []uint64{5, 6, 8}, []uint64{b.QuotaByStake, b.TotalQuota, b.Confirmations})
	require.Equal(t, hash(t, h), *b.FirstSnapshotHash)
	require.Equal(t, hash(t, h), *b.VMLogHash)
	require.Len(t, b.Triggered, 1)

	var info AccountInfo
	require.NoError(t, json.Unmarshal([]byte(`{"accountAddress":"`+alice+`","totalNumber":"4",
		"tokenBalanceInfoMap":{"tti_5649544520544f4b454e6e40":{"totalAmount":"9"}}}`), &info))
	require.EqualValues(t, 4, info.BlockCount)
	require.Equal(t, "9", amountOf(info.Balances[core.VITE]))
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		label   string
		is      error
		unknown bool
	}{
		{"the same block again", ErrPrevBlock, true},
		{"receive without quota", ErrOutOfQuota, false},
		{"more than the balance", &Error{Code: -35001}, false},
		{"receive twice", ErrAlreadyReceived, false},
		{"difficulty for a second PoW before the next snapshot", ErrPoWTwice, false},
		{"PoW difficulty, stale previous hash", ErrChainForked, false},
		{"hash does not match", &Error{Code: -36002}, false},
		{"shape: sendBlockHash null", &Error{Code: -32602}, false},
		{"cancelled order by id", &Error{Code: -37008}, false},
		{"dexfund_getTokenInfo VITE before init", &Error{codeOther, "invalid token"}, false},
	} {
		for _, e := range recordings(t) {
			if e.Label != c.label {
				continue
			}
			err := dial(t, answering(t, e)).Call(t.Context(), nil, e.Request.Method, params(t, e)...)
			require.ErrorIs(t, err, c.is, c.label)
			require.Equal(t, c.unknown, OutcomeUnknown(err), c.label)
		}
	}
	require.NotErrorIs(t, &Error{codeOther, "something else"}, ErrChainForked, "texts count where the code says nothing")
	require.False(t, OutcomeUnknown(nil))
}

func params(t *testing.T, e exchange) []any {
	var raw []json.RawMessage
	require.NoError(t, json.Unmarshal(e.Request.Params, &raw))
	list := make([]any, len(raw))
	for i := range raw {
		list[i] = raw[i]
	}
	return list
}

func TestSendIsWhatWasRecorded(t *testing.T) {
	for _, e := range recordings(t) {
		if e.Label != "send a transfer with a gateway comment" && e.Label != "receive with PoW" {
			continue
		}
		var blocks []json.RawMessage
		require.NoError(t, json.Unmarshal(e.Request.Params, &blocks))
		b, err := core.DecodeBlock(blocks[0])
		require.NoError(t, err)
		require.NoError(t, dial(t, answering(t, e)).SendRawTransaction(t.Context(), b), e.Label)

		b.Signature = nil
		err = dial(t, http.NotFoundHandler()).SendRawTransaction(t.Context(), b)
		require.ErrorIs(t, err, core.ErrBlockJSON)
		require.False(t, OutcomeUnknown(err), "it never left")
	}
}

func TestBounds(t *testing.T) {
	huge := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("x", 5000)+`"}`)
	})
	_, err := dialWith(t, huge, Options{MaxResponse: 4096}).SnapshotHeight(t.Context())
	require.ErrorIs(t, err, ErrTooLarge)
	require.True(t, OutcomeUnknown(err))

	release := make(chan struct{})
	silent := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release })
	c := dialWith(t, silent, Options{Timeout: 50 * time.Millisecond})
	_, err = c.SnapshotHeight(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(release)

	elsewhere := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
	})
	_, err = dial(t, elsewhere).SnapshotHeight(t.Context())
	require.ErrorContains(t, err, "HTTP 307")
}

func TestErrorsKeepTheAddressToThemselves(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := Dial(t.Context(), server.URL+"/v1/secret-key", Options{})
	require.NoError(t, err)
	_, err = c.SnapshotHeight(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret-key")
}

func TestManyBlocksAtOnce(t *testing.T) {
	batches := 0
	node := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked []struct {
			ID     int         `json:"id"`
			Params []core.Hash `json:"params"`
		}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		require.LessOrEqual(t, len(asked), maxBatch)
		answers := make([]map[string]any, len(asked))
		for i, q := range asked {
			answers[i] = map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": nil}
			if q.Params[0][0]%2 == 1 {
				answers[i]["result"] = map[string]any{"blockType": 2, "height": "3", "hash": q.Params[0]}
			}
		}
		batches++
		require.NoError(t, json.NewEncoder(w).Encode(answers))
	})
	hashes := make([]core.Hash, 150)
	for i := range hashes {
		hashes[i][0] = byte(i)
	}
	blocks, err := dial(t, node).AccountBlocksByHash(t.Context(), hashes)
	require.NoError(t, err)
	require.Equal(t, 2, batches)
	for i, b := range blocks {
		if i%2 == 0 {
			require.Nil(t, b)
			continue
		}
		require.Equal(t, hashes[i], b.Hash)
	}
}

// Batches are cut by their size too, and a request that no node takes is not sent.
func TestLargeRequests(t *testing.T) {
	var sizes []int
	node := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		var asked []struct {
			ID int `json:"id"`
		}
		require.NoError(t, json.Unmarshal(raw, &asked))
		sizes = append(sizes, len(raw))
		answers := make([]map[string]any, len(asked))
		for i, q := range asked {
			answers[i] = map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": nil}
		}
		require.NoError(t, json.NewEncoder(w).Encode(answers))
	})
	c := dial(t, node)
	ask := func(n, size int) error {
		param := strings.Repeat("x", size)
		return c.batch(t.Context(), "m", n, func(int) []any { return []any{param} }, func(int) any { return new(any) })
	}
	require.NoError(t, ask(0, 1))
	require.Empty(t, sizes)
	require.NoError(t, ask(10, 20_000))
	require.Len(t, sizes, 4, "three of them are above 60,000 bytes")
	for _, size := range sizes {
		require.Less(t, size, maxBatchBytes)
	}
	require.NoError(t, ask(2, 100_000))
	require.Len(t, sizes, 6, "one that is larger than a batch goes alone")
	require.Less(t, sizes[5], maxRequest)
	require.ErrorIs(t, ask(1, maxRequest), ErrRequestTooLarge)
	require.ErrorIs(t, c.Call(t.Context(), nil, "m", strings.Repeat("x", maxRequest)), ErrRequestTooLarge)
	require.Len(t, sizes, 6)
}

func TestNumbersOfANode(t *testing.T) {
	for _, c := range []struct{ json, fault string }{
		{`{"height":"-1"}`, "decimal integer"},
		{`{"height":1.5}`, "decimal integer"},
		{`{"height":"18446744073709551616"}`, "below 2^64"},
		{`{"amount":"0x10"}`, "decimal integer"},
		{`{"amount":"-1"}`, "decimal integer"},
		{`{"amount":"115792089237316195423570985008687907853269984665640564039457584007913129639936"}`, "below 2^256"},
		{`{"amount":"` + strings.Repeat("9", 79) + `"}`, "78 digits"},
		{`{"difficulty":"x"}`, "difficulty"},
		{`{"triggeredSendBlockList":5}`, "triggeredSendBlockList"},
		{`{"address":"vite_1"}`, "address"},
	} {
		var b AccountBlock
		require.ErrorContains(t, json.Unmarshal([]byte(c.json), &b), c.fault, c.json)
	}
}

func FuzzAccountBlock(f *testing.F) {
	for _, e := range recordings(f) {
		if len(e.Response.Result) > 0 {
			f.Add([]byte(e.Response.Result))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b AccountBlock
		if json.Unmarshal(raw, &b) != nil {
			return
		}
		for _, inner := range b.Triggered {
			require.Empty(t, inner.Triggered, "one level only")
		}
		if b.Difficulty != nil {
			require.LessOrEqual(t, b.Difficulty.BitLen(), 256)
		}
	})
}

func FuzzSnapshotBlock(f *testing.F) {
	for _, e := range recordings(f) {
		if strings.Contains(e.Request.Method, "napshotBlock") {
			f.Add([]byte(e.Response.Result))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b SnapshotBlock
		if json.Unmarshal(raw, &b) == nil {
			require.Equal(t, time.UTC, b.Time.Location())
		}
	})
}

// TestCloseEndsIdleConnections: a closed client leaves no connection to the node behind.
func TestCloseEndsIdleConnections(t *testing.T) {
	ended := make(chan struct{}, 1) // one connection ends once
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":null}`)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ended <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	c, err := Dial(t.Context(), s.URL, Options{})
	require.NoError(t, err)
	require.NoError(t, c.Call(t.Context(), nil, "any"))
	require.Empty(t, ended, "kept for the next call")
	c.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		require.Fail(t, "still connected")
	}
}
