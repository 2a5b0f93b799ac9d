package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/internal/testing/specs"
	"gatewayd/records"
)

// The world of the tests: recordstest's network under /gateway/eth, and the same token on a second
// network under /gateways/bsc.
const (
	eth, bsc   = "/gateway/eth", "/gateways/bsc"
	token      = recordstest.Token // type 0, flat fee
	labelled   = "tti_labelled"    // type 1, percent fee
	costly     = "tti_costly"      // network fee
	alice, bob = recordstest.Alice, recordstest.Bob
)

// ledger checks addresses like an adapter: a prefix and letters, of which one name is a contract's.
type ledger struct{ prefix string }

func (l ledger) CheckAddress(addr, label string) (string, error) {
	if strings.HasPrefix(addr, "other") {
		return "", fmt.Errorf("%w: %w", chain.ErrAddress, chain.ErrOtherNetwork)
	}
	name, ok := strings.CutPrefix(strings.ToLower(addr), l.prefix)
	if !ok || name == "" || name == "contract" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLower(r) && !unicode.IsDigit(r) }) {
		return "", fmt.Errorf("%w: nobody can be paid there", chain.ErrAddress)
	}
	if strings.ContainsRune(label, '!') {
		return "", fmt.Errorf("%w: no shouting", chain.ErrLabel)
	}
	return l.prefix + name, nil
}

func amount(n uint64) chain.Amount { return chain.NewAmount(n) }

func networkOf(name string, source chain.ID) records.Network {
	policy := records.Policy{
		MinDeposit: amount(10), MinWithdraw: amount(20), MaxWithdraw: amount(5000),
		DepositConfirmations: records.Depth{Count: 12}, WithdrawConfirmations: records.Depth{Count: 30},
		Fee: records.Fee{Kind: "flat", Amount: amount(7)},
	}
	one, two, three := policy, policy, policy
	two.Type, two.MaxWithdraw, two.Fee = 1, amount(0), records.Fee{Kind: "percent", PPM: 1000, Min: amount(3)}
	three.Fee = records.Fee{Kind: "network"}
	return records.Network{
		Name: name, Source: source, Exchange: recordstest.Exchange, Hot: recordstest.Hot, Shared: recordstest.Shared, Gateway: recordstest.Gateway,
		SourceExplorer: "https://" + name + ".example/tx/{$tx}", ExchangeExplorer: "https://vite.example/tx/{$tx}",
		Tokens: []records.Token{
			{TokenID: token, Symbol: "ONE-000", Asset: chain.Native, Policy: one},
			{TokenID: labelled, Symbol: "TWO-000", Asset: "0xtwo", Type: 1, LabelName: "Memo", Policy: two},
			{TokenID: costly, Symbol: "THREE-000", Asset: "0xthree", Policy: three},
		},
	}
}

func routeOf(base, name string, source chain.ID) Route {
	return Route{
		BasePath: base, Network: networkOf(name, source), Source: ledger{"0x"}, Exchange: ledger{"vite_"},
		Derive: func(_ context.Context, _ string, i uint32) (string, string, error) {
			return fmt.Sprintf("0xin%d", i), fmt.Sprintf("m/%s/%d", name, i), nil
		},
	}
}

// rig is a gateway that listens, on a real SQLite file.
type rig struct {
	*recordstest.Rig
	server *Server
	url    string
	client *http.Client
	logged *bytes.Buffer
	specs  []routers.Router
}

// change adjusts a gateway before it starts.
type change func(*Config, *Parts)

func setup(t testing.TB, changes ...change) *rig {
	t.Helper()
	r := &rig{Rig: recordstest.NewRig(t), logged: &bytes.Buffer{}}
	r.Do(recordstest.Alive)
	log := logrus.New()
	log.SetOutput(r.logged)
	log.SetLevel(logrus.WarnLevel) // what is of interest to tests
	labels := 0
	cfg := Config{Config: httpserver.Config{Listen: "127.0.0.1:0"}}
	parts := Parts{
		Store: r.Store, Log: log, Now: r.Now, Label: func() string { labels++; return fmt.Sprintf("LABEL%d", labels) },
		Routes: []Route{routeOf(eth, recordstest.Network, recordstest.Source), routeOf(bsc+"/", "bsc", "bsc")},
	}
	for _, c := range changes {
		c(&cfg, &parts)
	}
	var err error
	r.server, err = New(cfg, parts)
	require.NoError(t, err)
	r.run(t)
	r.url = "http://" + r.server.Addr()
	r.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r.specs = specsOf(t, r.server)
	return r
}

// run serves until the test ends, and then must end well.
func (r *rig) run(t testing.TB) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.server.Run(ctx) }()
	require.NoError(t, r.server.Ready(t.Context()))
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
		r.client.CloseIdleConnections()
	})
}

// specsOf reads both forms of the description that the server serves.
func specsOf(t testing.TB, s *Server) []routers.Router {
	var bases []string
	for _, route := range s.Routes {
		bases = append(bases, httpserver.CleanBase(route.BasePath))
	}
	description, err := describe(bases)
	require.NoError(t, err)
	return specs.Of(t, description.V31, description.V30)
}

// reply is one answer.
type reply struct {
	status int
	header http.Header
	body   string
	envelope
}

func (a reply) data(t testing.TB) map[string]any {
	t.Helper()
	data, ok := a.Data.(map[string]any)
	require.True(t, ok, a.body)
	return data
}

// get asks for a path; headers are names and values by turns. Every answer is held against the
// description.
func (r *rig) get(path string, headers ...string) reply {
	return r.do(http.MethodGet, path, headers...)
}

func (r *rig) do(method, target string, headers ...string) reply {
	r.T.Helper()
	request, err := http.NewRequest(method, r.url+target, nil)
	require.NoError(r.T, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := r.client.Do(request)
	require.NoError(r.T, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(r.T, err)
	out := reply{status: response.StatusCode, header: response.Header, body: string(body)}
	if method == http.MethodGet && response.StatusCode < 300 || len(body) > 0 && response.StatusCode >= 400 {
		require.NoError(r.T, json.Unmarshal(body, &out.envelope), out.body)
		r.checkSpec(request, out)
	}
	return out
}

func (r *rig) checkSpec(request *http.Request, a reply) {
	r.T.Helper()
	clean := request.Clone(request.Context())
	clean.URL = &url.URL{Path: path.Clean("/" + request.URL.Path)}
	for _, spec := range r.specs {
		route, params, err := spec.FindRoute(clean)
		if err != nil { // unknown path or method: the answer contains the error
			require.Contains(r.T, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, a.status, a.body)
			require.NotNil(r.T, a.Msg)
			return
		}
		input := &openapi3filter.RequestValidationInput{Request: request, Route: route, PathParams: params}
		err = openapi3filter.ValidateResponse(request.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: input, Status: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		})
		require.NoError(r.T, err, a.body)
	}
}

// at is a URL with a query string from names and values by turns.
func at(base, endpoint string, params ...string) string {
	v := url.Values{}
	for i := 0; i < len(params); i += 2 {
		v.Add(params[i], params[i+1])
	}
	return base + endpoint + "?" + v.Encode()
}
