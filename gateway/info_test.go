package gateway

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// ok is the envelope around data.
func ok(data string) string { return `{"code":0,"subCode":0,"msg":null,"data":` + data + `}` }

func TestInfo(t *testing.T) {
	r := setup(t)
	tests := []struct{ name, url, want string }{
		{"address mode", at(eth, "/meta-info", "tokenId", token), `{"type":0,"depositState":"OPEN","withdrawState":"OPEN"}`},
		{"label mode", at(eth, "/meta-info", "tokenId", labelled), `{"type":1,"depositState":"OPEN","withdrawState":"OPEN"}`},
		{
			"deposit without label", at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice),
			`{"depositAddress":"0xin0","minimumDepositAmount":"10","confirmationCount":12}`,
		},
		{
			"same user, other token: same address", at(eth, "/deposit-info", "tokenId", costly, "walletAddress", alice),
			`{"depositAddress":"0xin0","minimumDepositAmount":"10","confirmationCount":12}`,
		},
		{
			"same user in capitals", at(eth, "/deposit-info", "tokenId", token, "walletAddress", "VITE_ALICE"),
			`{"depositAddress":"0xin0","minimumDepositAmount":"10","confirmationCount":12}`,
		},
		{
			"next user", at(eth, "/deposit-info", "tokenId", token, "walletAddress", bob),
			`{"depositAddress":"0xin1","minimumDepositAmount":"10","confirmationCount":12}`,
		},
		{
			"label", at(eth, "/deposit-info", "tokenId", labelled, "walletAddress", alice),
			`{"depositAddress":"0xShared","labelName":"Memo","label":"LABEL1","minimumDepositAmount":"10","confirmationCount":12}`,
		},
		{
			"same label again", at(eth, "/deposit-info", "tokenId", labelled, "walletAddress", alice),
			`{"depositAddress":"0xShared","labelName":"Memo","label":"LABEL1","minimumDepositAmount":"10","confirmationCount":12}`,
		},
		{
			"withdraw without label", at(eth, "/withdraw-info", "tokenId", token, "walletAddress", alice),
			`{"minimumWithdrawAmount":"20","maximumWithdrawAmount":"5000","gatewayAddress":"vite_gateway"}`,
		},
		{
			"withdraw with label, no maximum", at(eth, "/withdraw-info", "tokenId", labelled, "walletAddress", alice),
			`{"minimumWithdrawAmount":"20","maximumWithdrawAmount":"` + noMaximum + `","gatewayAddress":"vite_gateway","labelName":"Memo"}`,
		},
		{
			"same token and address on the other network", at(bsc, "/deposit-info", "tokenId", token, "walletAddress", bob),
			`{"depositAddress":"0xin1","minimumDepositAmount":"10","confirmationCount":12}`,
		},
	}
	for _, tt := range tests {
		got := r.get(tt.url)
		require.Equal(t, 200, got.status, tt.name)
		require.JSONEq(t, ok(tt.want), got.body, tt.name)
	}
}

// refusal codes of one parameter each, the others being right.
func TestWrongParameters(t *testing.T) {
	r := setup(t)
	const wallet = "walletAddress"
	tests := []struct {
		name, url string
		want      fault
		msg       string
	}{
		{"no token", at(eth, "/meta-info"), parameterMissing, "The parameter tokenId is missing."},
		{"empty token", at(eth, "/meta-info", "tokenId", ""), parameterMissing, "The parameter tokenId is missing."},
		{"two tokens", at(eth, "/meta-info", "tokenId", token, "tokenId", token), parameterRepeated, "The parameter tokenId is given more than once."},
		{"long token", at(eth, "/meta-info", "tokenId", fmt.Sprintf("%0257d", 0)), parameterTooLong, "The parameter tokenId is longer than 256 characters."},
		{"256 characters", at(eth, "/meta-info", "tokenId", strings.Repeat("币", 256)), tokenUnknown, ""},
		{"no address to verify", at(eth, "/withdraw-address/verification", "tokenId", token), parameterMissing, "The parameter withdrawAddress is missing."},
		{"unknown token", at(eth, "/meta-info", "tokenId", "tti_x"), tokenUnknown, "tokenId: this token is not served on this network."},
		{"other case of token", at(eth, "/meta-info", "tokenId", "TTI_LABELLED"), tokenUnknown, "tokenId: this token is not served on this network."},
		{"semicolons", eth + "/meta-info?tokenId=" + token + ";x=1", queryMalformed, ""},
		{"bad escape", eth + "/meta-info?tokenId=%zz", queryMalformed, ""},
		{"no wallet", at(eth, "/deposit-info", "tokenId", token), parameterMissing, "The parameter walletAddress is missing."},
		{"bad wallet", at(eth, "/deposit-info", "tokenId", token, wallet, "vite_"), walletInvalid, "walletAddress: this is not a user's address."},
		{"a contract's", at(eth, "/deposit-info", "tokenId", token, wallet, "vite_contract"), walletInvalid, ""},
		{"zero byte", at(eth, "/deposit-info", "tokenId", token, wallet, "vite_\x00"), walletInvalid, ""},
		{"the gateway's", at(eth, "/deposit-info", "tokenId", token, wallet, recordstest.Gateway), walletOurs, "walletAddress: this address belongs to the gateway."},
		{"withdraw, no wallet", at(eth, "/withdraw-info", "tokenId", token), parameterMissing, ""},
		{"withdraw, bad wallet", at(eth, "/withdraw-info", "tokenId", token, wallet, "0xa"), walletInvalid, ""},
		{"records, bad wallet", at(eth, "/deposit-records", "tokenId", token, wallet, "x", "pageNum", "1", "pageSize", "10"), walletInvalid, ""},
		{"records, no page", at(eth, "/deposit-records", "tokenId", token, wallet, alice, "pageSize", "10"), parameterMissing, "The parameter pageNum is missing."},
		{"records, no size", at(eth, "/withdraw-records", "tokenId", token, wallet, alice, "pageNum", "1"), parameterMissing, "The parameter pageSize is missing."},
		{"page 0", at(eth, "/deposit-records", "tokenId", token, wallet, alice, "pageNum", "0", "pageSize", "10"), numberFormat, "pageNum: must be an integer from 1."},
		{"page -1", at(eth, "/deposit-records", "tokenId", token, wallet, alice, "pageNum", "-1", "pageSize", "10"), numberFormat, ""},
		{"size 0", at(eth, "/deposit-records", "tokenId", token, wallet, alice, "pageNum", "1", "pageSize", "0"), numberFormat, "pageSize: must be an integer from 1."},
		{"size 1e9", at(eth, "/deposit-records", "tokenId", token, wallet, alice, "pageNum", "1", "pageSize", "1e9"), numberFormat, ""},
	}
	for _, tt := range tests {
		got := r.get(tt.url)
		require.Equal(t, 200, got.status, tt.name)
		require.Equal(t, []int{1, int(tt.want)}, []int{got.Code, got.SubCode}, tt.name)
		require.Nil(t, got.Data, tt.name)
		if tt.msg != "" {
			require.Equal(t, tt.msg, *got.Msg, tt.name)
		}
	}
	require.Empty(t, r.logged.String(), "what users do wrong is not logged")
}

func TestChannelStates(t *testing.T) {
	const notice = "Deposits of this token are paused for maintenance. New deposits are credited afterwards."
	deposit := func(lead string) string {
		return ok(`{"depositAddress":"0xin0","minimumDepositAmount":"10","confirmationCount":12` + lead + `}`)
	}
	withdraw := ok(`{"minimumWithdrawAmount":"20","maximumWithdrawAmount":"5000","gatewayAddress":"vite_gateway"}`)
	refused := func(f fault) string {
		words, err := loadCatalogue()
		require.NoError(t, err)
		return fmt.Sprintf(`{"code":2,"subCode":%d,"msg":%q,"data":null}`, f, words.text(english, faultTexts[f]))
	}
	tests := []struct{ state, deposit, withdraw string }{
		{records.ChannelOpen, deposit(""), withdraw},
		{records.ChannelMaintain, deposit(`,"noticeMsg":"` + notice + `"`), refused(withdrawMaintain)},
		{records.ChannelClosed, refused(depositClosed), refused(withdrawClosed)},
		{records.ChannelOpen, deposit(""), withdraw},
	}
	r := setup(t)
	for _, tt := range tests {
		r.Do(func(tx *records.Tx) error {
			if err := records.SetChannel(tx, recordstest.Network, token, records.Deposit, tt.state, "test", "tester"); err != nil {
				return err
			}
			return records.SetChannel(tx, recordstest.Network, token, records.Withdrawal, tt.state, "test", "tester")
		})
		meta := r.get(at(eth, "/meta-info", "tokenId", token))
		require.JSONEq(t, ok(fmt.Sprintf(`{"type":0,"depositState":%q,"withdrawState":%q}`, tt.state, tt.state)), meta.body)
		require.JSONEq(t, tt.deposit, r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice)).body)
		require.JSONEq(t, tt.withdraw, r.get(at(eth, "/withdraw-info", "tokenId", token, "walletAddress", alice)).body)
		for _, url := range []string{
			at(eth, "/withdraw-address/verification", "tokenId", token, "withdrawAddress", "0xa"),
			at(eth, "/withdraw-fee", "tokenId", token, "walletAddress", alice, "amount", "100"),
			at(eth, "/deposit-records", "tokenId", token, "walletAddress", alice, "pageNum", "1", "pageSize", "10"),
			at(eth, "/deposit-info", "tokenId", costly, "walletAddress", alice),
			at(bsc, "/withdraw-info", "tokenId", token, "walletAddress", alice),
		} {
			require.Zero(t, r.get(url).Code, "%s answers while %s", url, tt.state)
		}
	}
}

func TestClosedChannelBindsNobody(t *testing.T) {
	r := setup(t)
	r.Do(func(tx *records.Tx) error {
		return records.SetChannel(tx, recordstest.Network, token, records.Deposit, records.ChannelClosed, "test", "tester")
	})
	require.Equal(t, int(depositClosed), r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice)).SubCode)
	r.See(func(tx *records.Tx) error {
		_, found, err := tx.Bindings().ByOwner(recordstest.Network, records.TypeAddress, alice)
		require.False(t, found)
		return err
	})
}

// Clients call deposit-info from several screens at once.
func TestParallelFirstCalls(t *testing.T) {
	r := setup(t)
	for _, id := range []string{token, labelled} {
		const callers = 32
		answers := make(chan string, callers)
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				name := []string{alice, bob}[i%2]
				answer := httptest.NewRecorder()
				request := httptest.NewRequest("GET", at(eth, "/deposit-info", "tokenId", id, "walletAddress", name), nil)
				request.RemoteAddr = "127.0.0.1:1"
				r.server.Handler().ServeHTTP(answer, request)
				answers <- name + answer.Body.String()
			})
		}
		all.Wait()
		close(answers)
		different := map[string]bool{}
		for a := range answers {
			different[a] = true
		}
		require.Len(t, different, 2, "one binding for each of two users")
		for a := range different {
			require.Contains(t, a, "depositAddress")
		}
	}
}

func TestLabelsThatAreTaken(t *testing.T) {
	labels := []string{"SAME", "SAME", "OTHER"}
	r := setup(t, func(_ *Config, p *Parts) {
		p.Label = func() string { l := labels[0]; labels = labels[1:]; return l }
	})
	first := r.get(at(eth, "/deposit-info", "tokenId", labelled, "walletAddress", alice)).data(t)
	second := r.get(at(eth, "/deposit-info", "tokenId", labelled, "walletAddress", bob)).data(t)
	require.Equal(t, []any{"SAME", "OTHER"}, []any{first["label"], second["label"]})
}

func TestRandomLabel(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		l := randomLabel()
		require.Regexp(t, "^[2-9A-HJKMNP-TV-Z]{8}$", l)
		require.False(t, seen[l])
		seen[l] = true
	}
}

func TestNewcomersAreCounted(t *testing.T) {
	r := setup(t, func(c *Config, _ *Parts) {
		c.TrustProxy, c.NewBindingsPerHour = []string{"127.0.0.0/8"}, 2
	})
	from := func(client, user string) reply {
		return r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", user), "X-Forwarded-For", client)
	}
	require.Zero(t, from("192.0.2.1", "vite_a").Code)
	require.Zero(t, from("192.0.2.1", "vite_b").Code)
	full := from("192.0.2.1", "vite_c")
	require.Equal(t, []int{200, 2, int(tooManyBindings)}, []int{full.status, full.Code, full.SubCode}, "the request is not wrong")
	require.Equal(t, "1800", full.header.Get("Retry-After"))
	require.Zero(t, from("192.0.2.1", "vite_a").Code, "who is known is served")
	require.Zero(t, from("192.0.2.2", "vite_c").Code, "others are served")
	require.Zero(t, from("2001:db8::1", "vite_d").Code)
	require.Zero(t, from("2001:db8::2", "vite_e").Code)
	require.Equal(t, int(tooManyBindings), from("2001:db8::3", "vite_f").SubCode, "one IPv6 customer has a whole /64")
	r.Pass(time.Hour)
	require.Zero(t, from("192.0.2.1", "vite_f").Code)
}

// A client with many /64 networks of one /48 is counted by the /48. It does not use up the others'
// share before it is refused.
func TestNewcomersOfASiteAreCounted(t *testing.T) {
	r := setup(t, func(c *Config, _ *Parts) {
		c.TrustProxy, c.NewBindingsPerHour, c.NewBindingsPerSite = []string{"127.0.0.0/8"}, 2, 4
	})
	users := 0
	from := func(client string) int {
		users++
		return r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", fmt.Sprint("vite_u", users)), "X-Forwarded-For", client).SubCode
	}
	const full = int(tooManyBindings)
	for range 10 {
		from("2001:db8:1::1")
	}
	require.Equal(t, full, from("2001:db8:1::1"))
	require.Equal(t, []int{0, 0, full}, []int{from("2001:db8:1:1::1"), from("2001:db8:1:2::1"), from("2001:db8:1:3::1")})
	require.Zero(t, from("2001:db8:2::1"), "another /48")
	for i := range 10 {
		require.Zero(t, from(fmt.Sprintf("192.0.2.%d", i)), "IPv4 has no sites")
	}
	r.Pass(time.Hour / 4)
	require.Zero(t, from("2001:db8:1:3::1"))
}

// A day brings so many new users and no more, from everywhere, for all replicas, and over restarts;
// known ones are served.
func TestNewcomersOfADayAreCounted(t *testing.T) {
	bound := func(c *Config, _ *Parts) { c.TrustProxy, c.NewBindingsPerDay = []string{"127.0.0.0/8"}, 3 }
	r := setup(t, bound)
	ask := func(tokenID, client, user, lang string) reply {
		return r.get(at(eth, "/deposit-info", "tokenId", tokenID, "walletAddress", user), "X-Forwarded-For", client, "lang", lang)
	}
	require.Zero(t, ask(token, "192.0.2.1", "vite_a", "").Code)
	r.Pass(time.Hour)
	require.Zero(t, ask(labelled, "192.0.2.2", "vite_b", "").Code)
	require.Zero(t, ask(token, "127.0.0.1", "vite_c", "").Code, "this machine counts here")
	for _, client := range []string{"192.0.2.4", "127.0.0.1"} {
		full := ask(token, client, "vite_d", "")
		require.Equal(t, []int{200, 2, int(bindingsFull)}, []int{full.status, full.Code, full.SubCode})
		require.Equal(t, "82800", full.header.Get("Retry-After"))
		require.Equal(t, "The gateway cannot create new deposit addresses now. Please try again in 82800 seconds.", *full.Msg)
	}
	require.Equal(t, "网关暂时无法新建充值地址，请在 82800 秒后重试。", *ask(token, "192.0.2.4", "vite_d", "zh-cn").Msg)
	require.Equal(t, 1, strings.Count(r.logged.String(), "no new deposit addresses"))
	require.Zero(t, ask(token, "192.0.2.4", "vite_a", "").Code, "who is known is served")
	r.Pass(23 * time.Hour)
	require.Zero(t, ask(token, "192.0.2.4", "vite_d", "").Code)
	require.Equal(t, int(bindingsFull), ask(token, "192.0.2.4", "vite_e", "").SubCode)
}

// sharing is a chain whose payouts share transactions.
type sharing struct {
	ledger
	chain.Batcher
	coin     int    // payouts of coin in a transaction
	contract string // that makes them; empty on a ledger of coins
}

func (s sharing) BatchTo(chain.Asset) string { return s.contract }

func (s sharing) MaxBatch(asset chain.Asset) int {
	if asset == chain.Native {
		return s.coin
	}
	return 50
}

// TestCoinThatContractsSend: users read that a contract pays them before they withdraw coin, and
// nothing of it for tokens, whose payments everybody sees.
func TestCoinThatContractsSend(t *testing.T) {
	for shared, noticed := range map[sharing]bool{{contract: "0xc"}: false, {coin: 50, contract: "0xc"}: true, {coin: 50}: false} {
		shared.ledger = ledger{"0x"}
		r := setup(t, func(_ *Config, p *Parts) { p.Routes[0].Source = shared })
		got := r.get(at(eth, "/withdraw-info", "tokenId", token, "walletAddress", alice))
		require.Equal(t, noticed, strings.Contains(got.body, `"noticeMsg":"A contract pays this withdrawal.`), got.body)
		require.NotContains(t, r.get(at(eth, "/withdraw-info", "tokenId", labelled, "walletAddress", alice)).body, "noticeMsg")
	}
}
