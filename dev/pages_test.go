package dev

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/client"
)

func users() *DemoUsers {
	log := logrus.New()
	log.SetOutput(io.Discard)
	u := NewDemoUsers(DemoOptions{}, log)
	u.info = Info{Mnemonic: Mnemonic, Tokens: []Token{{Symbol: "ETH-000", Token: "tti_687d8a93915393b219212c73", Asset: nativeAsset, Decimals: 18}}}
	return u
}

func asked(h http.Handler, method, path, body string) string {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(body)))
	return answer.Body.String()
}

// What a page asks to be paid is checked before anything is sent.
func TestPaymentsThatAreRefused(t *testing.T) {
	u := users()
	close(u.ready)
	for _, body := range []string{
		``, `{`, `[]`, `{"to":"0x1"}`, `{"tokenId":"tti_1","to":"0x52908400098527886E0F7030069857D2E4169EE7","amount":"1"}`,
		`{"tokenId":"tti_687d8a93915393b219212c73","to":"0x52908400098527886E0F7030069857D2E4169EE7","amount":"-1"}`,
		`{"tokenId":"` + strings.Repeat("x", maxBody) + `"}`,
	} {
		answer := asked(u.Demo(), "POST", "/demo/pay", body)
		require.Contains(t, answer, errPayment.Error())
		require.Contains(t, answer, `"code":"refused"`)
	}
	require.Contains(t, asked(u.Demo(), "GET", "/demo/pay", ""), "Method Not Allowed")
}

// A page calls a payment failed only by these codes: after any other error it may have been sent.
func TestCodesOfErrors(t *testing.T) {
	require.Equal(t, []string{"balance", "balance", "refused", "refused", "unknown"}, []string{
		codeOf(errBalance), codeOf(fmt.Errorf("paying: %w", errNoCoins)), codeOf(errPayment), codeOf(errNotReady), codeOf(io.ErrUnexpectedEOF),
	})
}

// Links lead to the gateway's own listener, where its address is known and the pages are served.
func TestExplorerLinks(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080/demo/tx/eth/{$tx}", "0.0.0.0:80": "http://localhost:80/demo/tx/eth/{$tx}", "127.0.0.1:0": "", "": "",
	} {
		require.Equal(t, want, Options{Listen: listen, Demo: users().Demo()}.explorer("eth"), listen)
		require.Empty(t, Options{Listen: listen}.explorer("eth"))
	}
}

// A hash that is not found is shown as text, whatever the link contains.
func TestTransactionThatIsUnknown(t *testing.T) {
	u := users()
	close(u.ready)
	require.Equal(t, "404 page not found\n", asked(u.Demo(), "GET", "/demo/tx/btc/0xab", ""), "no other chain stands in for an unknown one")
	answer := asked(u.Demo(), "GET", "/demo/tx/vite/%3Cscript%3E", "")
	require.Contains(t, answer, "Transaction on Vite")
	require.NotContains(t, answer, "<script>")
}

func TestDemoAccount(t *testing.T) {
	u := users()
	close(u.ready)
	answer := asked(u.Demo(), "GET", "/demo/user", "")
	key, err := u.info.UserKey(demoIndex)
	require.NoError(t, err)
	require.Contains(t, answer, key.Address().String())
	require.Regexp(t, `"privateKey":"[0-9a-f]{128}"`, answer)
}

// Who leaves before the key is made has waited in vain, and is seen by the market maker.
func TestSessionBeforeAndAfter(t *testing.T) {
	u := users()
	close(u.ready)
	h := u.Demo()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/demo/session", http.NoBody).WithContext(gone))
	require.Contains(t, answer.Body.String(), errNoSession.Error())
	require.Equal(t, busyInterval, u.watched.interval())
	u.session = session{Address: "vite_1", Key: "K", Secret: "S"}
	close(u.opened)
	require.JSONEq(t, `{"address":"vite_1","key":"K","secret":"S"}`, asked(h, "GET", "/demo/session", ""))
}

// The market maker slows down without viewers.
func TestPace(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	w := watch{now: func() time.Time { return now }}
	require.Equal(t, idleInterval, w.interval())
	w.markSeen()
	require.Equal(t, busyInterval, w.interval())
	now = now.Add(busyFor - time.Second)
	require.Equal(t, busyInterval, w.interval())
	now = now.Add(time.Second)
	require.Equal(t, idleInterval, w.interval())
}

// The maker has tokens for all its asks, some times over, and every price names a token of the
// environment.
func TestMakerHasEnough(t *testing.T) {
	names := map[string]bool{}
	for _, a := range Tokens() {
		names[a.Symbol] = true
		require.Positive(t, prices[a.Symbol], a.Symbol)
		k := Token{Symbol: a.Symbol + "-000"}
		require.Greater(t, float64(makerTokens(k)), 1.5*levels*orderVITE/prices[a.Symbol])
	}
	require.Len(t, prices, len(names))
	require.InDelta(t, 1.0, sign(client.Buy), 0)
	require.InDelta(t, -1.0, sign(client.Sell), 0)
}
