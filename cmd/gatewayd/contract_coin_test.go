package main

import (
	"bytes"
	"context"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/goccy/go-yaml"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/dev/ethnode"
	"gatewayd/signer/approval"
)

// newContractPayers is a daemon and its signer, each a process, on a source node that does not
// trace.
func newContractPayers(t *testing.T, signerNode func(daemons string) string) (*faultyEnv, *daemonProcess) {
	t.Helper()
	v := &daemonProcess{}
	w := prepareFaultyEnvOn(t, ethnode.Config{Public: true}, startRichExchange, func(_ *faultyEnv, c *config.Config) {
		c.Watcher.BalanceAudit = time.Second
		node := c.Ethereum[0].Nodes
		c.Ethereum[0].Nodes = []string{signerNode(node[0])}
		v.signer = splitSigner(t, c)
		c.Ethereum[0].Nodes = node
	})
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil))
	v.dir, v.args = w.cfg.Data, []string{"run", "-c", w.info.Config}
	v.signer.start(t)
	v.start(t)
	t.Cleanup(func() { v.kill(t) })
	waitForInfo(t, v.dir)
	return w, v
}

// contractPayer pays an address in a way that no transaction's own value shows, and returns how
// much.
type contractPayer struct {
	name string
	pay  func(t *testing.T, w *faultyEnv, u *testUser, to common.Address) *big.Int
}

// tenths of a coin, in wei.
func tenths(n int64) *big.Int { return new(big.Int).Div(ether(n), big.NewInt(10)) }

// call sends coin to a contract with a call, and requires that it succeeds.
func (u *testUser) call(t *testing.T, at common.Address, value *big.Int, data []byte) {
	t.Helper()
	hash, err := u.Eth.Send(t.Context(), at, value, data)
	require.NoError(t, err)
	require.NoError(t, u.Eth.Mined(t.Context(), hash))
}

var contractPayers = []contractPayer{
	{"forwarder", func(t *testing.T, _ *faultyEnv, u *testUser, to common.Address) *big.Int {
		u.forward(t, u.forwarder(t), to.Hex(), tenths(1))
		return tenths(1)
	}},
	{"selfdestruct", func(t *testing.T, _ *faultyEnv, u *testUser, to common.Address) *big.Int {
		u.call(t, u.forwarder(t), tenths(2), contracts.NewForwarder().PackForwardByDestruction(to))
		return tenths(2)
	}},
	{"withdrawal of a validator", func(t *testing.T, w *faultyEnv, _ *testUser, to common.Address) *big.Int {
		require.NoError(t, w.source.Withdraw(&types.Withdrawal{Index: 7, Validator: 9, Address: to, Amount: 300_000_000})) // gwei
		return tenths(3)
	}},
	{"tips of a block", func(t *testing.T, w *faultyEnv, u *testUser, to common.Address) *big.Int {
		w.source.StopMining()
		defer w.source.StartMining()
		before, err := u.Eth.Client.BalanceAt(t.Context(), to, nil)
		require.NoError(t, err)
		tip := new(big.Int).Div(ether(4), big.NewInt(210_000)) // 0.4 of a coin in all
		nonce, err := u.Eth.Client.PendingNonceAt(t.Context(), u.Eth.Address())
		require.NoError(t, err)
		self := u.Eth.Address()
		tx, err := types.SignNewTx(u.Eth.Key, types.LatestSignerForChainID(u.Eth.Chain), &types.DynamicFeeTx{
			ChainID: u.Eth.Chain, Nonce: nonce, GasTipCap: tip, GasFeeCap: new(big.Int).Lsh(tip, 1), Gas: 21_000, To: &self,
		})
		require.NoError(t, err)
		require.NoError(t, u.Eth.Client.SendTransaction(t.Context(), tx))
		w.source.PayTips(to)
		_, err = w.source.Mine(1)
		require.NoError(t, err)
		w.source.PayTips(common.Address{})
		after, err := u.Eth.Client.BalanceAt(t.Context(), to, nil)
		require.NoError(t, err)
		return after.Sub(after, before)
	}},
	{"loop of calls", func(t *testing.T, w *faultyEnv, u *testUser, to common.Address) *big.Int {
		receivers, amounts := make([]common.Address, 10), make([]*big.Int, 10)
		for i := range receivers {
			receivers[i], amounts[i] = to, new(big.Int).Div(tenths(5), big.NewInt(10))
		}
		u.call(t, w.source.Contracts().BatchPayer, tenths(5), contracts.NewBatchPayer().PackPayNative(receivers, amounts))
		return tenths(5)
	}},
	{"account with code (EIP-7702)", func(t *testing.T, _ *faultyEnv, u *testUser, to common.Address) *big.Int {
		code := u.forwarder(t)
		nonce, err := u.Eth.Client.PendingNonceAt(t.Context(), u.Eth.Address())
		require.NoError(t, err)
		id := uint256.MustFromBig(u.Eth.Chain)
		allowed, err := types.SignSetCode(u.Eth.Key, types.SetCodeAuthorization{ChainID: *id, Address: code, Nonce: nonce + 1})
		require.NoError(t, err)
		cap := uint256.NewInt(1_000_000_000_000)
		tx, err := types.SignNewTx(u.Eth.Key, types.LatestSignerForChainID(u.Eth.Chain), &types.SetCodeTx{
			ChainID: id, Nonce: nonce, GasTipCap: uint256.NewInt(1_000_000_000), GasFeeCap: cap, Gas: 300_000, To: u.Eth.Address(),
			Value: uint256.MustFromBig(tenths(6)), Data: contracts.NewForwarder().PackForward(to), AuthList: []types.SetCodeAuthorization{allowed},
		})
		require.NoError(t, err)
		require.NoError(t, u.Eth.Client.SendTransaction(t.Context(), tx))
		require.NoError(t, u.Eth.Mined(t.Context(), tx.Hash()))
		return tenths(6)
	}},
}

// TestCoinOfContractsIsProven: users of exchanges, smart wallets and validators pay on a node
// without tracing, with a signer in a separate process. The signer proves the deposits, and
// everything is credited without a person: twice, with an ordinary deposit between.
func TestCoinOfContractsIsProven(t *testing.T) {
	t.Parallel()
	w, v := newContractPayers(t, func(daemons string) string { return daemons })
	users, due := make([]*testUser, len(contractPayers)), make([]*big.Int, len(contractPayers))
	for i := range contractPayers {
		u, err := newTestUser(t.Context(), w.info, w.token(t, "ETH"), uint32(i), t.Output())
		require.NoError(t, err)
		t.Cleanup(u.Close)
		users[i] = u
	}
	collect := func() {
		t.Helper()
		for i, u := range users {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, u.Collect(ctx, demo.AmountOf(due[i])), contractPayers[i].name)
		}
	}
	for i, p := range contractPayers {
		due[i] = p.pay(t, w, users[i], common.HexToAddress(depositAddress(t, users[i])))
	}
	collect()
	for i, u := range users {
		u.mustDeposit(t, u.Times(3))
		paid := contractPayers[i].pay(t, w, u, common.HexToAddress(depositAddress(t, u)))
		due[i] = new(big.Int).Add(new(big.Int).Add(due[i], paid), u.Times(3).Uint256().ToBig())
	}
	collect()
	require.Empty(t, v.heldIDs(t))
	out, _ := v.runCommand(t, "doctor") // it has other findings
	require.Contains(t, out, "coin sent by contracts: found by balances within 1s, because the node does not trace (")
	require.Contains(t, out, "; credited once the signer has proven it")
	require.Contains(t, findLine(out, "ok", "signer policy: hash"), ", the same as the signer's")
}

// heldIDs are the records that wait for an operator.
func (v *daemonProcess) heldIDs(t *testing.T) (ids []string) {
	t.Helper()
	out, err := v.runCommand(t, "records", "list", "--needs-operator", "--json")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`"id":\s*"?(\d+)`).FindAllStringSubmatch(out, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// nodeWithoutState is a proxy before a node that keeps no state of its blocks.
func nodeWithoutState(t *testing.T, node string) string {
	t.Helper()
	target, err := url.Parse(node)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || regexp.MustCompile(`eth_call|eth_getBalance|eth_getProof`).Match(body) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"missing trie node 12ab (path )"}}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestUnprovenCoinIsApproved: the signer's node keeps no state. Doctor, status, the record and the
// wallet show the facts, and the advice works as given.
func TestUnprovenCoinIsApproved(t *testing.T) {
	t.Parallel()
	w, v := newContractPayers(t, func(daemons string) string { return nodeWithoutState(t, daemons) })
	u, err := newTestUser(t.Context(), w.info, w.token(t, "ETH"), 0, t.Output())
	require.NoError(t, err)
	t.Cleanup(u.Close)
	u.forward(t, u.forwarder(t), depositAddress(t, u), tenths(1))
	var held []string
	waitFor(t, "the held deposit", func() bool { held = v.heldIDs(t); return len(held) == 1 })

	out, _ := v.runCommand(t, "doctor") // it has other findings
	require.Contains(t, out, "FIX")
	require.Contains(t, out, "then held, because the signer cannot prove it")
	require.Contains(t, out, "Give the signer a node of eth that keeps the state of its final block")
	require.Contains(t, out, "add an approver to signer.approvals of the signer's configuration")
	out, err = v.runCommand(t, "records", "show", held[0])
	require.NoError(t, err)
	require.Contains(t, out, "unproven")
	require.Contains(t, out, "do not keep the state of their final block")
	info, err := http.Get(w.gateway + "/deposit-info?tokenId=" + u.Token.Token + "&walletAddress=" + u.Vite.Address().String())
	require.NoError(t, err)
	defer info.Body.Close()
	text, err := io.ReadAll(info.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "Your deposit has arrived")
	waitFor(t, "the conditions", func() bool {
		out, _ = v.runCommand(t, "status")
		return strings.Contains(out, "the signer cannot prove coin that contracts send") && strings.Contains(out, "because the signer cannot prove them")
	})

	key := filepath.Join(t.TempDir(), "ann.key")
	var printed bytes.Buffer
	streams := testStreams(t)
	streams.stdout = &printed
	require.NoError(t, run(t.Context(), []string{"approver", "new", key}, streams))
	public := regexp.MustCompile(`ed25519:[A-Za-z0-9+/=]{44}`).FindString(printed.String())
	require.NotEmpty(t, public)
	v.signer.changeConfig(t, func(c *config.Config) {
		c.Signer.Approvals = approval.Config{Needed: 1, Approvers: []approval.Approver{{Name: "ann", Key: public}}}
	})
	require.NoError(t, v.signer.cmd.Process.Signal(syscall.SIGHUP))
	waitFor(t, "the approver", func() bool { return strings.Contains(v.signer.log.String(), "lists reloaded") })
	_, err = v.runCommand(t, "approve", held[0], "--key", key, "--yes")
	require.NoError(t, err)
	require.NoError(t, u.Collect(t.Context(), demo.AmountOf(tenths(1))))
}

// changeConfig writes the signer's configuration with something changed.
func (s *signerProcess) changeConfig(t *testing.T, change func(*config.Config)) {
	t.Helper()
	c, err := config.Load(s.config)
	require.NoError(t, err)
	change(&c)
	text, err := yaml.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.config, text, 0o600))
}
