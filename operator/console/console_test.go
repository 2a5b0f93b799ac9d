package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/operator"
	"gatewayd/operator/console"
	"gatewayd/records"
	"gatewayd/signer/approval"
)

const password = "correct horse battery"

// page is a console with three users, and a browser that asks it.
type page struct {
	t      *testing.T
	url    string
	store  *records.Store
	open   atomic.Bool
	clock  atomic.Int64
	secret string
	cookie *http.Cookie
	csrf   string
	name   string
	header http.Header
}

func newPage(t *testing.T) *page {
	t.Helper()
	return newPageOn(t, nil)
}

// newPageOn works on a store, or on one of its own.
func newPageOn(t *testing.T, store *records.Store) *page {
	t.Helper()
	p := &page{t: t, header: http.Header{}, store: store}
	p.clock.Store(time.Now().Unix())
	var err error
	if store == nil {
		p.store, err = records.Open(t.Context(), records.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "records.db"), Now: p.now})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.store.Close()) })
	}
	p.secret, err = console.NewSecret()
	require.NoError(t, err)
	kept, err := console.HashPassword(password)
	require.NoError(t, err)
	require.NoError(t, p.store.Update(t.Context(), func(tx *records.Tx) error {
		for _, role := range records.UserRoles() {
			if err := records.PutUser(tx, records.User{Name: string(role), Role: role, Password: kept, TOTP: p.secret}); err != nil {
				return err
			}
		}
		return nil
	}))
	cfg := httpserver.Config{TrustProxy: []string{"127.0.0.0/8"}}
	guard, err := httpserver.NewMiddleware(cfg, p.now)
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(t.Output())
	p.open.Store(true)
	session := &operator.Session{Store: p.store}
	e := echo.New()
	console.New(console.Parts{Gateway: func() (console.Gateway, bool) { return console.Gateway{Session: session}, p.open.Load() }, Site: p.site, Guard: guard, Log: log, Now: p.now}).Routes(e)
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	p.url = server.URL + "/console/api"
	return p
}

func (p *page) now() time.Time { return time.Unix(p.clock.Load(), 0) }

func (p *page) site() (approval.Site, error) { return approval.ParseSite(origin) }

const host, origin = "ops.example.org", "https://ops.example.org"

// advance moves the clock forward.
func (p *page) advance(d time.Duration) { p.clock.Add(int64(d.Seconds())) }

func (p *page) code() string {
	p.t.Helper()
	code, err := console.CodeAt(p.secret, p.now())
	require.NoError(p.t, err)
	return code
}

// ask answers the status and the text of an answer.
func (p *page) ask(method, path string, body any) (int, string) {
	p.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(p.t, err)
	if raw, ok := body.(string); ok {
		text = []byte(raw)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, bytes.NewReader(text))
	require.NoError(p.t, err)
	r.Header = p.header.Clone()
	r.Header.Set("X-CSRF-Token", p.csrf)
	if p.cookie != nil {
		r.AddCookie(p.cookie)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(p.t, err)
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, "no-store", answer.Header.Get("Cache-Control"))
	for _, c := range answer.Cookies() {
		p.cookie = c
	}
	if answer.StatusCode >= http.StatusBadRequest {
		var told struct{ Error string }
		require.NoError(p.t, json.Unmarshal(got, &told), "%s", got)
		require.NotEmpty(p.t, told.Error)
	}
	return answer.StatusCode, string(got)
}

// signIn signs a user in with the next code.
func (p *page) signIn(name string) {
	p.t.Helper()
	p.advance(time.Minute) // another code
	status, text := p.ask(http.MethodPost, "/sign-in", map[string]string{"name": name, "password": password, "code": p.code()})
	require.Equal(p.t, http.StatusOK, status, text)
	var me struct{ Name, Role, CSRF string }
	require.NoError(p.t, json.Unmarshal([]byte(text), &me))
	require.Equal(p.t, name, me.Name)
	p.csrf, p.name = me.CSRF, name
}

func TestSignIn(t *testing.T) {
	p := newPage(t)
	told := ""
	try := func(name, password, code string) (status int) {
		status, told = p.ask(http.MethodPost, "/sign-in", map[string]string{"name": name, "password": password, "code": code})
		return status
	}
	for _, wrong := range [][3]string{{"operator", "wrong horse battery", p.code()}, {"operator", password, "000000"}, {"nobody", password, p.code()}} {
		require.Equal(t, http.StatusUnauthorized, try(wrong[0], wrong[1], wrong[2]))
		require.Contains(t, told, "name, password or code is wrong")
	}
	require.Nil(t, p.cookie)
	require.Equal(t, http.StatusOK, try("operator", password, p.code()))
	require.True(t, p.cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, p.cookie.SameSite)
	require.Equal(t, "/console", p.cookie.Path)
	require.Equal(t, http.StatusUnauthorized, try("operator", password, p.code()), "a code is used once")
	for _, body := range []string{"", "{", `{"name":"operator","x":1}`, `{} {}`} {
		status, _ := p.ask(http.MethodPost, "/sign-in", body)
		require.Equal(t, http.StatusBadRequest, status, body)
	}
	status, _ := p.ask(http.MethodPost, "/sign-in", map[string]string{"name": strings.Repeat("x", 20_000)})
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
}

// TestGuessesAreBounded: of one name, from wherever they come.
func TestGuessesAreBounded(t *testing.T) {
	p := newPage(t)
	refused := 0
	for range 15 {
		if status, _ := p.ask(http.MethodPost, "/sign-in", map[string]string{"name": "viewer", "password": "x", "code": "1"}); status == http.StatusTooManyRequests {
			refused++
		}
	}
	require.Equal(t, 5, refused)
	p.advance(time.Minute)
	status, _ := p.ask(http.MethodPost, "/sign-in", map[string]string{"name": "vi\x00ewer", "password": password, "code": p.code()})
	require.Equal(t, http.StatusUnauthorized, status, "another spelling is nobody's: it would be counted apart")
	p.signIn("operator")
	p.signIn("viewer")
}

func TestSessions(t *testing.T) {
	p := newPage(t)
	status, _ := p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusUnauthorized, status)
	p.signIn("operator")
	for _, path := range []string{
		"/me", "/records", "/channels", "/accounts", "/history", "/history/verify", "/balances", "/overview", "/nodes", "/tokens", "/limits", "/moves?purpose=sweep", "/passkeys", "/approvals", "/configuration", "/attention", "/series",
		"/records?address=0x52908400098527886E0F7030069857D2E4169EE7&from=2026-01-01&until=2026-11-23T10:00:00Z&unattributed=true",
	} {
		status, text := p.ask(http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, status, "%s: %s", path, text)
	}
	_, text := p.ask(http.MethodGet, "/history", nil)
	require.Contains(t, text, `"actor":"operator:operator"`, "who signed in stands in the history")
	p.advance(records.SessionIdle)
	status, _ = p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusUnauthorized, status, "nobody was there")
	p.signIn("operator")
	kept := p.cookie
	status, _ = p.ask(http.MethodPost, "/sign-out", nil)
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, p.cookie.Value)
	p.cookie = kept
	status, _ = p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusUnauthorized, status, "its cookie is worth nothing any more")
}

func TestOrdersWantRoleTokenAndReason(t *testing.T) {
	p := newPage(t)
	order := func(path string, body any) int {
		status, _ := p.ask(http.MethodPost, path, body)
		return status
	}
	why := map[string]string{"why": "ticket 4711"}
	for _, role := range []string{"viewer", "approver"} {
		p.signIn(role)
		require.Equal(t, http.StatusForbidden, order("/records/1/refund", why), role)
		require.Equal(t, http.StatusForbidden, order("/channels/eth/ETH/deposit", why), role)
		for _, path := range []string{"/records/1/settle", "/records/1/hold", "/accounts/eth/0x1/stop", "/accounts/eth/0x1/resume", "/chains/eth/resume", "/chains/eth/rescan", "/configuration/reload"} {
			require.Equal(t, http.StatusForbidden, order(path, why), role+path)
		}
	}
	p.signIn("operator")
	csrf := p.csrf
	for _, wrong := range []string{"", "x", csrf + "x"} {
		p.csrf = wrong
		require.Equal(t, http.StatusForbidden, order("/records/1/refund", why))
		require.Equal(t, http.StatusForbidden, order("/sign-out", nil))
		require.Equal(t, http.StatusForbidden, order("/configuration/reload", why))
		require.Equal(t, http.StatusForbidden, order("/chains/eth/rescan", map[string]any{"from": 1}))
	}
	p.csrf = csrf
	require.Equal(t, http.StatusBadRequest, order("/records/1/refund", map[string]string{}), "no reason")
	require.Equal(t, http.StatusBadRequest, order("/records/1/refund", map[string]string{"why": strings.Repeat("x", 501)}))
	require.Equal(t, http.StatusBadRequest, order("/records/one/refund", why))
	for _, path := range []string{"/records/1/refund", "/records/1/hold", "/records/1/settle", "/accounts/eth/0x1/resume", "/chains/eth/resume"} {
		require.Equal(t, http.StatusServiceUnavailable, order(path, why), "another process leads")
		require.Equal(t, http.StatusBadRequest, order(path, map[string]string{}), "no reason")
	}
	rescan := map[string]any{"from": 1, "book": true}
	require.Equal(t, http.StatusBadRequest, order("/chains/eth/rescan", rescan), "no reason")
	rescan["why"] = "ticket 4711"
	require.Equal(t, http.StatusServiceUnavailable, order("/chains/eth/rescan", rescan), "another process leads")
	require.Equal(t, http.StatusBadRequest, order("/chains/eth/rescan", map[string]any{"from": -1}))
	require.Equal(t, http.StatusBadRequest, order("/configuration/reload", map[string]string{}), "no reason")
	require.Equal(t, http.StatusConflict, order("/configuration/reload", why), "no daemon uses the database")
	require.Equal(t, http.StatusNotFound, order("/accounts/eth/0x1/stop", why))
	require.Equal(t, http.StatusNotFound, order("/channels/eth/ETH/deposit", map[string]string{"state": "OPEN", "why": "x"}))
	require.Equal(t, http.StatusNotFound, order("/nothing", why))
	status, text := p.ask(http.MethodGet, "/records?state=lost", nil)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "lost")
	for _, wrong := range []string{"limit=2000", "address=nobody", "amount=1.", "from=yesterday", "until=x", "older=x", "before=1&after=2", "before=x"} {
		status, _ = p.ask(http.MethodGet, "/records?"+wrong, nil)
		require.Equal(t, http.StatusBadRequest, status, wrong)
	}
	status, _ = p.ask(http.MethodGet, "/moves?purpose=credit", nil)
	require.Equal(t, http.StatusBadRequest, status)
	status, _ = p.ask(http.MethodGet, "/records/17", nil)
	require.Equal(t, http.StatusNotFound, status)
}

// TestStrangersAreTurnedAway: pages of other origins, readers on the way, and anybody while the
// database is closed.
func TestStrangersAreTurnedAway(t *testing.T) {
	p := newPage(t)
	p.signIn("viewer")
	for _, site := range []string{"cross-site", "same-site"} {
		p.header.Set("Sec-Fetch-Site", site)
		status, _ := p.ask(http.MethodGet, "/me", nil)
		require.Equal(t, http.StatusForbidden, status, site)
	}
	p.header.Del("Sec-Fetch-Site")
	p.header.Set("X-Forwarded-Proto", "http")
	status, _ := p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusForbidden, status, "a proxy says that it came over plain HTTP")
	p.header.Del("X-Forwarded-Proto")
	p.open.Store(false)
	status, _ = p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
}

// TestPages: one after the other shows each row once, forth and back.
func TestPages(t *testing.T) {
	p := newPage(t)
	require.NoError(t, p.store.Update(t.Context(), func(tx *records.Tx) error {
		if err := tx.Chains().Start("eth", chain.Point{Height: 9, Hash: "h"}); err != nil {
			return err
		}
		for i := range 5 {
			tr := records.Transfer{Network: "eth", Direction: records.Deposit, Chain: "eth", Height: 9, BlockHash: "h"}
			tr.Ref, tr.Tx, tr.From, tr.To, tr.Asset, tr.Amount = fmt.Sprint(i), fmt.Sprint("0x", i), "0xuser", "0xours", chain.Native, chain.NewAmount(1)
			if _, _, err := tx.Transfers().See(tr); err != nil {
				return err
			}
		}
		return nil
	}))
	p.signIn("viewer")
	var page struct {
		Records        []struct{ ID uint64 }
		Next, Previous uint64
	}
	look := func(query string) (ids []uint64) {
		_, text := p.ask(http.MethodGet, "/records?limit=2"+query, nil)
		page.Records = nil
		require.NoError(t, json.Unmarshal([]byte(text), &page), text)
		for _, r := range page.Records {
			ids = append(ids, r.ID)
		}
		return ids
	}
	require.Equal(t, []uint64{5, 4}, look(""))
	require.Zero(t, page.Previous)
	require.Equal(t, []uint64{3, 2}, look(fmt.Sprint("&before=", page.Next)))
	require.Equal(t, []uint64{1}, look(fmt.Sprint("&before=", page.Next)))
	require.Zero(t, page.Next)
	require.Empty(t, look("&older=10"))
	p.advance(11 * time.Minute)
	require.Equal(t, []uint64{5, 4}, look("&older=10"))
	require.Equal(t, []uint64{1}, look("&before=2"))
	require.Equal(t, []uint64{3, 2}, look(fmt.Sprint("&after=", page.Previous)))
	require.Equal(t, []uint64{5, 4}, look(fmt.Sprint("&after=", page.Previous)))

	var lines struct {
		Lines []operator.HistoryLine
		Next  uint64
	}
	for before, want := uint64(0), 0; ; {
		_, text := p.ask(http.MethodGet, fmt.Sprintf("/history?limit=3&before=%d", before), nil)
		lines.Lines, lines.Next = nil, 0
		require.NoError(t, json.Unmarshal([]byte(text), &lines), text)
		for _, l := range lines.Lines {
			require.True(t, want == 0 || int(l.Seq) == want, "line %d", l.Seq)
			want = int(l.Seq) - 1
		}
		if before = lines.Next; before == 0 {
			require.Zero(t, want)
			break
		}
	}
	_, text := p.ask(http.MethodGet, "/history?people=true", nil)
	require.Contains(t, text, "operator:viewer")
	require.NotContains(t, text, `"actor":"daemon"`)
}

// TestHistoryIsVerified: a stored line reveals that the end was cut off, which the digests alone
// cannot.
func TestHistoryIsVerified(t *testing.T) {
	p := newPage(t)
	p.signIn("viewer")
	verify := func(query string) (v struct {
		Whole          bool
		Lines          uint64
		Digest, Broken string
	}) {
		status, text := p.ask(http.MethodGet, "/history/verify"+query, nil)
		require.Equal(t, http.StatusOK, status, text)
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		return v
	}
	now := verify("")
	require.True(t, now.Whole)
	require.NotZero(t, now.Lines)
	p.signIn("operator")
	require.True(t, verify(fmt.Sprintf("?seq=%d&digest=%s", now.Lines, now.Digest)).Whole)
	for _, other := range []string{fmt.Sprintf("?seq=%d&digest=%s", now.Lines+1, now.Digest), fmt.Sprintf("?seq=%d&digest=%s", now.Lines+100, now.Digest)} {
		v := verify(other)
		require.False(t, v.Whole)
		require.Contains(t, v.Broken, "removed or rewritten")
	}
}
