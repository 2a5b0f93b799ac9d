package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/operator/doctor"
	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

// TestDoctorOrdersByCure: the doctor of a new gateway lists each act of the operator once, with
// amount and address, and doing that is enough.
func TestDoctorOrdersByCure(t *testing.T) {
	t.Parallel()
	var funder *dev.ViteUser
	w := prepareFaultyEnv(t, startPoorExchange, func(w *faultyEnv, c *config.Config) {
		key, err := keystore.NewKeys(keystore.Seed(dev.Mnemonic, "")).ByIndex(dev.UserBase + treasury)
		require.NoError(t, err)
		funder, err = dev.NewViteUser(t.Context(), w.rich.URL(), key)
		require.NoError(t, err)
		t.Cleanup(funder.Node.Close)
		c.Networks[0].Funders = append(c.Networks[0].Funders, funder.Address().String())
	})
	w.startDaemon(t)
	w.addUser(t)
	waitFor(t, "a channel that lacks each token", func() bool {
		out, _ := w.runCommand(t, "doctor")
		return strings.Count(out, "status no_funds") == 6 && strings.Contains(out, "status no_coin") && strings.Contains(out, "status no_quota")
	})

	report := w.doctorReport(t)
	var screen bytes.Buffer
	require.Error(t, printDoctor(streams{stdout: &screen}, format{}, report))
	text := screen.String()
	t.Log(text)
	faults := 0
	for _, f := range report.Findings {
		require.Equal(t, f.OK, f.Cure == 0, f)
		if !f.OK {
			faults++
		}
	}
	require.Greater(t, faults, 15)
	acts := 0
	for _, c := range report.Cures {
		if c.Account != "" { // the test's source chain is ahead of the clock, which is a fault of its own
			acts++
		}
	}
	require.Equal(t, 8, acts, "coin for two accounts, two tokens for the hot account, three for the gateway's, and a stake")
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		require.False(t, seen[line], line)
		seen[line] = true
	}
	for i, c := range report.Cures {
		require.Equal(t, i+1, c.Number)
		verb, _, _ := strings.Cut(c.Do, " ") // amounts follow the price of gas
		require.Regexp(t, fmt.Sprintf(`(?m)^%d\. %s .*%s`, c.Number, regexp.QuoteMeta(verb), c.Account), text)
		require.Contains(t, c.Do, c.Account)
		if c.Account != "" {
			w.do(t, funder, c)
		}
	}
	w.waitUntilWell(t)
	waitFor(t, "a doctor with no fault", func() bool { return len(faultsOf(w.doctorReport(t))) == 0 })
}

// doctorReport is `doctor --json`.
func (w *faultyEnv) doctorReport(t *testing.T) (report doctor.Report) {
	t.Helper()
	var out bytes.Buffer
	s := testStreams(t)
	s.stdout = &out
	_ = run(t.Context(), []string{"doctor", "--json", "-c", w.info.Config}, s) // its code is another test's
	require.NoError(t, json.Unmarshal(out.Bytes(), &report), out.String())
	return report
}

// do sends or stakes what a cure asks for.
func (w *faultyEnv) do(t *testing.T, funder *dev.ViteUser, c doctor.Cure) {
	t.Helper()
	require.NotNil(t, c.Amount, c.Do)
	if c.Chain == chain.ID("eth") {
		hash, err := w.user.Faucet.Pay(t.Context(), string(c.Asset), common.HexToAddress(c.Account), c.Amount.Uint256().ToBig(), nil)
		require.NoError(t, err)
		require.NoError(t, w.user.Faucet.Mined(t.Context(), hash))
		return
	}
	to, err := core.ParseAddress(c.Account)
	require.NoError(t, err)
	data, token := []byte(nil), dev.MustToken(string(c.Asset))
	if strings.HasPrefix(c.Do, "Stake ") {
		data, err = core.StakeForQuota.Pack(to)
		require.NoError(t, err)
		to = core.QuotaContract
	}
	_, err = funder.Send(t.Context(), to, token, c.Amount.Uint256(), data)
	require.NoError(t, err)
}

func faultsOf(r doctor.Report) (list []string) {
	for _, f := range r.Findings {
		if !f.OK && !strings.HasSuffix(f.What, " clock") {
			list = append(list, f.What+": "+f.Found)
		}
	}
	return list
}
