package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"gatewayd/dev"
)

// series are the figures of a scrape by their names and labels, "name{a=b,c=d}".
func series(t *testing.T, url string) map[string]float64 {
	t.Helper()
	answer, err := http.Get(url + "/metrics")
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	require.NoError(t, err)
	all := map[string]float64{}
	for name, family := range families {
		for _, m := range family.Metric {
			labels := make([]string, len(m.Label))
			for i, l := range m.Label {
				labels[i] = l.GetName() + "=" + l.GetValue()
			}
			all[name+"{"+strings.Join(labels, ",")+"}"] = valueOf(m)
		}
	}
	return all
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	}
	return m.Gauge.GetValue()
}

// fetch answers the status and the body of a page.
func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}

// TestMetricsOfAnEnvironment: after a deposit and a withdrawal a scrape has what they were; hostile
// requests make no series of their own; an account that an operator stops shows on every page.
func TestMetricsOfAnEnvironment(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" })
	u := r.newCustomer(t, "USDT")
	to, sent := u.withdrawToPayee(t, u.Times(5))
	u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	u.requirePaid(t, to, u.Times(5))

	at := r.Info.Operators
	const credit = "gatewayd_payments_total{chain=%s,network=eth,purpose=credit,state=paid}"
	var got map[string]float64
	waitFor(t, "a scrape with the withdrawal", func() bool {
		got = series(t, at)
		return got[fmt.Sprintf(credit, "eth")] == 1 && got["gatewayd_fees_paid_coins_total{chain=eth}"] > 0
	})
	hot, gateway := r.Daemon.Networks[0].Hot, r.Daemon.Networks[0].Gateway
	for name, want := range map[string]float64{
		fmt.Sprintf(credit, "vite"): 1,
		"gatewayd_transfers_total{direction=deposit,network=eth,state=final}":                                                  1,
		"gatewayd_transfers_total{direction=withdrawal,network=eth,state=final}":                                               1,
		"gatewayd_transfer_duration_seconds{direction=deposit,ledger=accounts,network=eth}":                                    1,
		"gatewayd_transfer_duration_seconds{direction=withdrawal,ledger=accounts,network=eth}":                                 1,
		"gatewayd_attempts_total{chain=vite,kind=pay,network=eth,purpose=credit}":                                              1,
		"gatewayd_transfers{direction=deposit,network=eth,state=held}":                                                         0,
		"gatewayd_slots{chain=eth,state=unmined}":                                                                              0,
		"gatewayd_chain_halted{chain=eth}":                                                                                     0,
		"gatewayd_leader{}":                                                                                                    1,
		"gatewayd_index_ready{exchange=main}":                                                                                  1,
		"gatewayd_accounts{chain=eth,kind=hot,network=eth,state=ok}":                                                           1,
		"gatewayd_channel_state{direction=deposit,network=eth,state=OPEN,token=" + u.Token.Token + "}":                         1,
		"gatewayd_account_pending{account=" + hot + ",asset=" + u.Token.Asset + ",chain=eth,kind=hot,network=eth,symbol=USDT}": 0,
	} {
		value, there := got[name]
		require.True(t, there, name)
		require.Equal(t, want, value, name)
	}
	for _, name := range []string{
		"gatewayd_account_balance{account=" + gateway + ",asset=" + u.Token.Token + ",chain=vite,kind=gateway,network=eth,symbol=USDT-000}",
		"gatewayd_account_quota{account=" + gateway + ",chain=vite,network=eth}",
		"gatewayd_chain_head{chain=vite}", "gatewayd_database_size_bytes{database=records}", "gatewayd_disk_free_bytes{}", "gatewayd_read_timestamp_seconds{}",
		"gatewayd_http_requests_total{route=GET /gateway/eth/deposit-info,server=gateway,status=2xx}",
		"gatewayd_http_request_duration_seconds{route=GET /gateway/eth/withdraw-records,server=gateway}",
		"gatewayd_signer_call_duration_seconds{call=sign,signer=process}", "gatewayd_config_reload_success_timestamp_seconds{}",
		"gatewayd_database_connections_max{database=records,pool=write}", "gatewayd_database_connections_max{database=guard,pool=write}",
		"gatewayd_database_connections_max{database=keys,pool=write}", "gatewayd_database_connections_max{database=index_main,pool=write}",
		"go_goroutines{}", "process_resident_memory_bytes{}",
	} {
		require.Positive(t, got[name], name)
	}
	for _, id := range []string{"eth", "vite"} {
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(got)), func(name string) bool {
			return strings.HasPrefix(name, "gatewayd_node_call_duration_seconds{chain="+id+",")
		}), id)
	}
	boundedSeries(t, r, got)
	stoppedAccountShows(t, r, hot)
	namesAreScraped(t, series(t, at))
}

// metricName is a name in an expression of a rule or a panel.
var metricName = regexp.MustCompile(`\b(?:gatewayd|go|process)_[a-z_]+`)

// namesAreScraped: the rules and the dashboard use only metrics that a daemon exports.
func namesAreScraped(t *testing.T, got map[string]float64) {
	t.Helper()
	names := map[string]bool{}
	for line := range got {
		name, _, _ := strings.Cut(line, "{")
		names[name], names[name+"_bucket"] = true, true
	}
	for _, file := range []string{"../../ops/alerts.yml", "../../ops/grafana/gatewayd.json"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		asked := metricName.FindAllString(string(text), -1)
		require.NotEmpty(t, asked)
		for _, name := range asked {
			require.True(t, names[name], "%s asks for %s", file, name)
		}
	}
}

// boundedSeries requests unknown names, paths, methods and wallets: none of an outsider's becomes a
// series.
func boundedSeries(t *testing.T, r *rig, before map[string]float64) {
	t.Helper()
	roots := []string{r.Info.Operators, dev.RootOf(r.Info.Gateway), dev.RootOf(r.Info.API)}
	for i := range 100 {
		for _, root := range roots {
			for _, method := range []string{http.MethodGet, fmt.Sprintf("M%d", i)} {
				for _, path := range []string{fmt.Sprintf("/nowhere/%d", i), fmt.Sprintf("/gateway/eth/deposit-info?tokenId=tti_%d&walletAddress=vite_%d", i, i)} {
					request, err := http.NewRequestWithContext(t.Context(), method, root+path, http.NoBody)
					require.NoError(t, err)
					answer, err := http.DefaultClient.Do(request)
					require.NoError(t, err)
					answer.Body.Close()
				}
			}
		}
	}
	var more []string
	for name := range series(t, r.Info.Operators) {
		if _, known := before[name]; !known && strings.Contains(name, "http_") {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	require.LessOrEqual(t, len(more), 2*2*len(roots)+4, strings.Join(more, "\n")) // unknown, and known routes asked wrongly, by class; the histogram
	require.Less(t, len(before)+len(more), 1000)
	require.NotContains(t, strings.Join(slices.Collect(maps.Keys(series(t, r.Info.Operators))), " "), "nowhere")
}

func stoppedAccountShows(t *testing.T, r *rig, hot string) {
	t.Helper()
	code, body := fetch(t, r.Info.Operators+"/health")
	require.Equal(t, http.StatusOK, code, body)
	r.mustCommand(t, "account", "stop", "eth", hot)
	code, body = fetch(t, r.Info.Operators+"/health")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, body, `"reasons":[{"kind":"account_stopped","chain":"eth"}]`)
	_, public := fetch(t, dev.RootOf(r.Info.Gateway)+"/health")
	require.Contains(t, public, `"reasons":[{"kind":"account_stopped","chain":"eth"}]`)
	code, body = fetch(t, r.Info.Operators+"/ready")
	require.Equal(t, http.StatusOK, code, "it serves all the same")
	require.JSONEq(t, `{"ready":true,"role":"leader","reasons":[],"chains":["eth","vite"],"stops":["account_stopped"]}`, body)
	code, body = fetch(t, dev.RootOf(r.Info.Gateway)+"/ready")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"ready":true}`, body)
	waitFor(t, "the stopped account in a scrape", func() bool {
		got := series(t, r.Info.Operators)
		return got["gatewayd_condition{chain=eth,direction=withdrawal,kind=account_stopped,network=eth,stops=true,token=}"] == 1 &&
			got["gatewayd_accounts{chain=eth,kind=hot,network=eth,state=halted}"] == 1 &&
			got["gatewayd_channel_state{direction=withdrawal,network=eth,state=MAINTAIN,token="+r.Info.Tokens[0].Token+"}"] == 1
	})
}
