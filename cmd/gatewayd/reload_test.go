package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/exchangeapi"
	"gatewayd/httpserver"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
)

// changedConfig is the environment's first configuration with a change.
func (w *faultyEnv) changedConfig(change func(*config.Config)) config.Config {
	c := w.cfg
	c.Networks = slices.Clone(c.Networks)
	c.Networks[0].Tokens = slices.Clone(c.Networks[0].Tokens)
	change(&c)
	return c
}

func multiple(a chain.Amount, n uint64) chain.Amount {
	product, _ := a.Mul(n)
	return product
}

// writeConfig writes such a configuration to a file.
func (w *faultyEnv) writeConfig(t *testing.T, path string, change func(*config.Config)) {
	t.Helper()
	text, err := yaml.Marshal(w.changedConfig(change))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

// changed is the configuration of TestReload's second part: what a running daemon takes, and one
// key that it does not.
func changed(w *faultyEnv, funder string, dai config.Token) func(*config.Config) {
	return func(c *config.Config) {
		c.Watcher.Poll *= 2
		c.Gateway.RatePerSecond = 500
		c.Ethereum = slices.Clone(c.Ethereum)
		c.Ethereum[0].MaxFeeGwei = "277"
		exchange := *c.Exchange
		exchange.CallLimit, exchange.KeyPage = 77, new(bool)
		c.Exchange = &exchange
		n := &c.Networks[0]
		n.Funders = append(slices.Clone(n.Funders), funder)
		usdt := &n.Tokens[1]
		usdt.MinDeposit, usdt.MinWithdraw = multiple(usdt.MinDeposit, 5), multiple(usdt.MinWithdraw, 3)
		usdt.Fee.Amount = multiple(usdt.Fee.Amount, 2)
		n.Tokens = append(n.Tokens, dai)
	}
}

// TestReload changes the file of a running daemon: valid settings apply at once and to later
// transfers only, invalid ones change nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	var dai config.Token
	w := newFaultyEnv(t, func(_ *faultyEnv, c *config.Config) {
		dai = c.Networks[0].Tokens[2]
		c.Networks[0].Tokens = c.Networks[0].Tokens[:2]
		c.Exchange = &config.Exchange{Config: exchangeapi.Config{Config: httpserver.Config{Listen: freeAddress(t)}, CallLimit: 70}}
	})
	calls := func() int {
		var list []struct{ MaxCount int }
		require.Zero(t, getEnvelope(t, "http://"+w.cfg.Exchange.Listen+"/api/v2/agent/package", &list))
		return list[0].MaxCount
	}
	waitFor(t, "the exchange API", func() bool {
		res, err := http.Get("http://" + w.cfg.Exchange.Listen + "/api/v2/agent/package")
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
	})
	require.Equal(t, 70, calls())
	wallet, usdt := "&walletAddress="+w.user.Vite.Address().String(), w.cfg.Networks[0].Tokens[1]
	page := func(path, token string, into any) int {
		return getEnvelope(t, w.gateway+path+"?tokenId="+token+wallet, into)
	}
	require.NotZero(t, page("/meta-info", dai.Token, nil), "it is not served yet")
	require.Contains(t, w.mustCommand(t, "reload"), "nothing has changed")

	// Money of ours from an address that is not among the funders yet.
	stray := w.user.pay(t, "native", w.hot(t), chain.MustAmount("2000000000000000000"), "")
	waitFor(t, "the stray to be held", func() bool { return w.needingOperator(t)[stray].State == "held" })

	// A deposit that is seen before the minimum rises.
	address := depositAddress(t, w.user)
	w.source.StopMining()
	target, value, call := dev.TransferOf(w.user.Token.Asset, common.HexToAddress(address), w.user.Times(1).Uint256().ToBig(), nil)
	early, err := w.user.Eth.Submit(t.Context(), target, value, call)
	require.NoError(t, err)
	_, err = w.source.Mine(1)
	require.NoError(t, err)
	waitFor(t, "the deposit to be seen", func() bool { return len(w.listRecords(t, "--state", "seen")) == 1 })

	w.writeConfig(t, w.info.Config, changed(w, w.user.Eth.Address().Hex(), dai))
	out := w.mustCommand(t, "reload")
	for _, want := range []string{
		"networks.eth.tokens.USDT-000.min_deposit 1000000 -> 5000000", "networks.eth.tokens.DAI-000 added: " + dai.Token,
		"ethereum.eth.max_fee_gwei", "exchange.call_limit", "networks.eth.funders [" + w.cfg.Networks[0].Funders[0] + "] -> [", "gateway.rate_per_second", "Needs a restart: exchange.key_page watcher.poll",
	} {
		require.Contains(t, strings.Join(strings.Fields(out), " "), want)
	}
	require.Equal(t, 77, calls())
	w.source.StartMining()
	var deposit struct{ MinimumDepositAmount string }
	require.Zero(t, page("/deposit-info", usdt.Token, &deposit))
	require.Equal(t, "5000000", deposit.MinimumDepositAmount)
	w.waitUntilWell(t)
	var withdraw struct{ MinimumWithdrawAmount string }
	require.Zero(t, page("/withdraw-info", usdt.Token, &withdraw))
	require.Equal(t, "3000000", withdraw.MinimumWithdrawAmount)
	var fee struct{ Fee string }
	require.Zero(t, getEnvelope(t, w.gateway+"/withdraw-fee?amount=9000000&tokenId="+usdt.Token+wallet, &fee))
	require.Equal(t, "2000000", fee.Fee)

	// Each by the policy of its first sight.
	w.user.mustAwait(t, "/deposit-records", early.Hex(), "TOT_CONFIRMED")
	late, err := w.user.Deposit(t.Context(), w.user.Times(1))
	require.NoError(t, err)
	w.user.mustAwait(t, "/deposit-records", late, "BELOW_MINIMUM")

	// A new funder, and a new token from the first page to the credit.
	topUp := w.user.pay(t, "native", w.hot(t), chain.MustAmount("1000000000000000000"), "")
	waitFor(t, "the top-up to be money of ours", func() bool {
		return slices.ContainsFunc(w.listRecords(t, "--direction", "funding", "--state", "final"), func(r operator.RecordRow) bool { return r.InTx == topUp })
	})
	w.mustCommand(t, "records", "reclassify", recordName(w.needingOperator(t)[stray]), "--why", "a funder since today")
	require.Equal(t, []string{"funding", "final"}, []string{w.recordDetail(t, stray).Record.Direction, w.recordDetail(t, stray).Record.State})
	three := dev.NewInfo(w.changedConfig(func(c *config.Config) { c.Networks[0].Tokens = append(c.Networks[0].Tokens, dai) }), w.info.Config, "")
	three.Gateway = w.info.Gateway
	newcomer, err := newTestUser(t.Context(), three, three.Tokens[2], 1, t.Output())
	require.NoError(t, err)
	t.Cleanup(newcomer.Close)
	newcomer.mustDeposit(t, newcomer.Times(2))
	var shared dev.DepositInfo
	query := map[string]string{"tokenId": dai.Token, "walletAddress": newcomer.Vite.Address().String()}
	require.NoError(t, newcomer.Gateway.Get(t.Context(), "/deposit-info", query, &shared))

	w.requireRefused(t, func() { require.Zero(t, page("/deposit-info", usdt.Token, &deposit)) })
	require.Equal(t, "5000000", deposit.MinimumDepositAmount)

	// Back to the beginning: the token is withdrawn from service.
	w.writeConfig(t, w.info.Config, func(*config.Config) {})
	require.NoError(t, w.daemon.Process.Signal(syscall.SIGHUP))
	waitFor(t, "the token's page to be gone", func() bool { return page("/meta-info", dai.Token, nil) != 0 })
	require.Zero(t, page("/meta-info", usdt.Token, nil))
	w.waitUntilWell(t)
	w.servedAgain(t, newcomer, shared, dai)
	w.settledBooks(t)
}

// servedAgain has a user deposit a token that is not served now, and credits it when it is.
func (w *faultyEnv) servedAgain(t *testing.T, u *testUser, shared dev.DepositInfo, dai config.Token) {
	t.Helper()
	sent := u.pay(t, u.Token.Asset, shared.DepositAddress, u.Times(3), shared.Label)
	waitFor(t, "the deposit to be held", func() bool { return w.needingOperator(t)[sent].Reason == records.ReasonUnknownToken })
	again := []string{"records", "reclassify", recordName(w.needingOperator(t)[sent]), "--why", "served again"}
	_, err := w.command(t, again...)
	require.ErrorContains(t, err, "by the current configuration record")
	w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Networks[0].Tokens = append(c.Networks[0].Tokens, dai) })
	_, err = w.command(t, again...)
	require.ErrorContains(t, err, "`gatewayd reload` first")
	w.mustCommand(t, "reload")
	_, err = w.command(t, again[0], again[1], again[2])
	require.ErrorContains(t, err, "--why is required")
	w.mustCommand(t, again...)
	_, err = w.command(t, again...)
	require.ErrorContains(t, err, "nothing to do")
	u.mustAwait(t, "/deposit-records", sent, "TOT_CONFIRMED")
	require.NoError(t, u.Collect(t.Context(), u.Times(5)))
	require.Equal(t, u.Times(5).String(), u.spendable(t).String())
}

// requireRefused requires that the daemon refuses wrong files, by command and by signal.
func (w *faultyEnv) requireRefused(t *testing.T, unchanged func()) {
	t.Helper()
	good, err := os.ReadFile(w.info.Config)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "other.yaml")
	w.writeConfig(t, other, func(c *config.Config) {
		c.Networks[0].Tokens[1].MinDeposit = multiple(c.Networks[0].Tokens[1].MinDeposit, 7)
	})
	err = run(t.Context(), []string{"reload", "-c", other}, testStreams(t))
	require.ErrorContains(t, err, "the daemon has read "+w.info.Config, "a file of another name")

	w.writeConfig(t, w.info.Config, func(c *config.Config) {
		c.Networks[0].Tokens[0].MinDeposit = multiple(c.Networks[0].Tokens[0].MinDeposit, 9)
		c.Networks[0].Tokens[1].Fee.Kind = "generous"
	})
	const fault = `fee kind "generous"`
	_, err = w.command(t, "reload")
	require.ErrorContains(t, err, fault)
	require.NoError(t, w.daemon.Process.Signal(syscall.SIGHUP))
	refused := func() bool {
		a := w.readHealth(t)
		return a.code == 200 && slices.ContainsFunc(a.Warnings, func(r reason) bool { return r.Kind == string(status.ConfigRefused) })
	}
	waitFor(t, "the refusal in /health", refused)
	unchanged()
	_, err = w.command(t, "doctor")
	require.ErrorContains(t, err, fault)

	require.NoError(t, os.WriteFile(w.info.Config, good, 0o600))
	out, err := w.command(t, "doctor")
	require.Error(t, err)
	require.Contains(t, findLine(out, "cures status config_refused"), fault)
	w.mustCommand(t, "reload")
	w.waitUntilWell(t)
}

// settledBooks waits until no payment is in progress, and checks that books and chains agree.
func (w *faultyEnv) settledBooks(t *testing.T) {
	t.Helper()
	store, err := records.OpenExisting(t.Context(), w.cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	waitFor(t, "nothing under way", func() bool { return len(underWay(t, store, w.cfg)) == 0 })
	require.Contains(t, w.mustCommand(t, "audit"), " 0 differences")
}
