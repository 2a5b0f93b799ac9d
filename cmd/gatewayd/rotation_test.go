package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/approval"
	"gatewayd/vite/ledger"
	"gatewayd/wallet"
)

// rotationEnv is a gateway with a separate signer, whose second account on the exchange chain has a
// stake before it pays anything.
type rotationEnv struct {
	*faultyEnv
	signer *signerProcess
}

func newRotationEnv(t *testing.T, adjust func(*config.Config)) *rotationEnv {
	t.Helper()
	r := &rotationEnv{}
	staked := func(t *testing.T, keys *wallet.Keys) *daemon.Embedded {
		genesis := richGenesis(t, keys)
		next, err := daemon.ExchangeAddress(keys, wallet.GatewayPathOf(0, 1))
		require.NoError(t, err)
		genesis.Stakes = append(genesis.Stakes, ledger.GenesisStake{Staker: genesis.Stakes[0].Staker, Beneficiary: next, Amount: genesis.Stakes[0].Amount})
		return startExchangeOf(t, genesis)
	}
	r.faultyEnv = prepareFaultyEnv(t, staked, func(_ *faultyEnv, c *config.Config) {
		c.Watcher.Level = 500 * time.Millisecond
		if adjust != nil {
			adjust(c)
		}
		r.signer = splitSigner(t, c)
	})
	require.NoError(t, dev.FundSource(t.Context(), r.info, r.keys, nil))
	r.signer.start(t)
	r.start(t)
	r.addUser(t)
	return r
}

// change changes the signer's file and has it read again.
func (s *signerProcess) change(t *testing.T, change func(*config.Config)) {
	t.Helper()
	s.write(t, change)
	const done = "lists reloaded"
	before := strings.Count(s.log.String(), done)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGHUP))
	waitFor(t, "the signer to read its file", func() bool { return strings.Count(s.log.String(), done) > before })
}

func (s *signerProcess) write(t *testing.T, change func(*config.Config)) {
	t.Helper()
	var c config.Config
	text, err := os.ReadFile(s.config)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &c))
	change(&c)
	text, err = yaml.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.config, text, 0o600))
}

// refuses writes a file that the signer must not take, and puts the one before back.
func (s *signerProcess) refuses(t *testing.T, why string, change func(*config.Config)) {
	t.Helper()
	good, err := os.ReadFile(s.config)
	require.NoError(t, err)
	s.write(t, change)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGHUP))
	waitFor(t, "the signer to refuse its file", func() bool { return strings.Contains(s.log.String(), why) })
	require.NoError(t, os.WriteFile(s.config, good, 0o600))
}

// rotate changes both files, the signer's first, and returns the daemon's answer.
func (r *rotationEnv) rotate(t *testing.T, change func(*config.Config)) string {
	t.Helper()
	r.signer.change(t, change)
	r.cfg = r.changedConfig(func(c *config.Config) {
		c.Ethereum, c.Vite = slices.Clone(c.Ethereum), slices.Clone(c.Vite)
		change(c)
	})
	r.writeConfig(t, r.info.Config, func(*config.Config) {})
	return strings.Join(strings.Fields(r.mustCommand(t, "reload")), " ")
}

// accounts are ours of a kind, as `account list` has them.
func (r *rotationEnv) accounts(t *testing.T, kind records.AccountKind) (list []operator.AccountRow) {
	t.Helper()
	var all []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(r.mustCommand(t, "account", "list", "--json")), &all))
	for _, a := range all {
		if a.Kind == string(kind) {
			list = append(list, a)
		}
	}
	return list
}

// holding returns the balance of an account and an asset in `balances`.
func (r *rotationEnv) holding(t *testing.T, account, asset string) chain.Amount {
	t.Helper()
	var all []operator.Balance
	require.NoError(t, json.Unmarshal([]byte(r.mustCommand(t, "balances", "--json")), &all))
	for _, b := range all {
		if b.Account == account && string(b.Asset) == asset && b.Amount != nil {
			return *b.Amount
		}
	}
	require.Fail(t, "no balance", "%s of %s", asset, account)
	return chain.Amount{}
}

// startTransfers begins a deposit and a withdrawal that stay undecided until the source chain
// continues, and returns a function that waits for both.
func (r *rotationEnv) startTransfers(t *testing.T) (ended func()) {
	t.Helper()
	before := r.user.spendable(t)
	amount := units(r.user.Token, 3_000)
	address := depositAddress(t, r.user)
	r.source.StopMining()
	target, value, call := dev.TransferOf(r.user.Token.Asset, common.HexToAddress(address), amount.Uint256().ToBig(), nil)
	deposit, err := r.user.Eth.Submit(t.Context(), target, value, call)
	require.NoError(t, err)
	to, withdrawal := r.user.withdrawToPayee(t, amount)
	after := r.user.spendable(t)
	return func() {
		t.Helper()
		r.source.StartMining()
		r.user.mustAwait(t, "/deposit-records", deposit.Hex(), "TOT_CONFIRMED")
		r.user.mustAwait(t, "/withdraw-records", withdrawal, "OPPOSITE_CONFIRMED")
		r.user.requirePaid(t, to, amount)
		must, err := after.Add(amount)
		require.NoError(t, err)
		require.NoError(t, r.user.Collect(t.Context(), must))
		require.Equal(t, must, r.user.spendable(t))
		require.True(t, must.Less(before), "the fee")
	}
}

// paidBy are the accounts that have paid users on a chain since a record.
func (r *rotationEnv) paidBy(t *testing.T, hash string) (accounts []string) {
	t.Helper()
	for _, p := range r.recordDetail(t, hash).Payments {
		if p.Purpose == string(chain.Credit) || p.Purpose == string(chain.Refund) {
			accounts = append(accounts, p.Account)
		}
	}
	return accounts
}

// TestNewHotAccount is the runbook of docs/operations/keys.md: under load a new account pays
// withdrawals, the old one gives it its balance, and users' later transfers there still count.
func TestNewHotAccount(t *testing.T) {
	t.Parallel()
	r := newRotationEnv(t, nil)
	old := r.hot(t)
	dai, err := newTestUser(t.Context(), r.info, r.token(t, "DAI"), 1, t.Output())
	require.NoError(t, err)
	t.Cleanup(dai.Close)
	dai.mustDeposit(t, dai.Times(2))
	label, err := dai.Gateway.DepositInfo(t.Context(), dai.Token.Token, dai.Vite.Address().String())
	require.NoError(t, err)
	require.Equal(t, old, label.DepositAddress)
	r.bridgeOnce(t, 1)

	next := func(c *config.Config) { c.Ethereum[0].Accounts, c.Ethereum[0].Retired = 2, []int{0} }
	r.writeConfig(t, r.info.Config, func(c *config.Config) { c.Ethereum = slices.Clone(c.Ethereum); next(c) })
	refused, ok := r.runCommand(t, "reload")
	require.False(t, ok)
	require.Contains(t, refused, "raise accounts there too, and reload the signer first")

	ended := r.startTransfers(t)
	out := r.rotate(t, next)
	require.Contains(t, out, "ethereum.eth.accounts")
	require.Contains(t, out, "ethereum.eth.retired")
	ended()

	list := r.accounts(t, records.KindHot)
	require.Len(t, list, 2)
	require.Equal(t, []bool{true, false}, []bool{list[0].Retired, list[1].Retired})
	fresh := list[1].Address
	waitFor(t, "the old account to be empty", func() bool {
		return r.holding(t, old, r.user.Token.Asset).IsZero() && r.holding(t, old, dai.Token.Asset).IsZero()
	})
	again, err := dai.Gateway.DepositInfo(t.Context(), dai.Token.Token, dai.Vite.Address().String())
	require.NoError(t, err)
	require.Equal(t, fresh, again.DepositAddress, "pages show the new address")
	require.Equal(t, label.Label, again.Label)
	for i, to := range []string{old, fresh} {
		sent := dai.pay(t, dai.Token.Asset, to, dai.Times(3), label.Label)
		dai.mustAwait(t, "/deposit-records", sent, "TOT_CONFIRMED")
		require.NoError(t, dai.Collect(t.Context(), dai.Times(2+3*uint64(i+1))))
	}
	require.Equal(t, dai.Times(8), dai.spendable(t))
	r.bridgeOnce(t, 2)
	to, sent := r.user.withdrawToPayee(t, units(r.user.Token, 2_000))
	r.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	r.user.requirePaid(t, to, units(r.user.Token, 2_000))
	require.Equal(t, []string{fresh}, r.paidBy(t, sent))
	waitFor(t, "what came to the old account to be gone", func() bool { return r.holding(t, old, dai.Token.Asset).IsZero() })
	doctor, _ := r.runCommand(t, "doctor")
	require.Contains(t, doctor, "retired account "+old+": is watched and holds ")
	require.Contains(t, r.mustCommand(t, "config", "check"), "2 accounts of ours, retired: [0]")
	require.Contains(t, findLine(r.mustCommand(t, "balances"), "hot, retired"), "eth")
	r.settledBooks(t)
	r.waitUntilWell(t)
}

// TestNewGatewayAccount is the runbook of docs/operations/keys.md: wallets are given a new address
// of the gateway, and what goes to the old one is paid out or refunded.
func TestNewGatewayAccount(t *testing.T) {
	t.Parallel()
	r := newRotationEnv(t, nil)
	var info dev.WithdrawInfo
	ask := func() string {
		t.Helper()
		query := map[string]string{"tokenId": r.user.Token.Token, "walletAddress": r.user.Vite.Address().String()}
		require.NoError(t, r.user.Gateway.Get(t.Context(), "/withdraw-info", query, &info))
		return info.GatewayAddress
	}
	old := ask()
	r.bridgeOnce(t, 1)
	ended := r.startTransfers(t)
	out := r.rotate(t, func(c *config.Config) { c.Vite[0].Accounts, c.Vite[0].Retired = 2, []int{0} })
	require.Contains(t, out, "vite.vite.accounts")
	ended()
	next := ask()
	require.NotEqual(t, old, next)
	waitFor(t, "the old account to be empty", func() bool { return r.holding(t, old, r.user.Token.Token).IsZero() })
	r.bridgeOnce(t, 2)

	// A wallet that has kept the old address.
	fresh, err := dev.NewPayee()
	require.NoError(t, err)
	amount := units(r.user.Token, 2_000)
	gross, err := r.user.Gateway.Gross(t.Context(), r.user.Token.Token, r.user.Vite.Address().String(), amount)
	require.NoError(t, err)
	data, err := r.user.Token.Withdrawal(fresh.Hex(), "")
	require.NoError(t, err)
	sent, err := r.user.SendToGateway(t.Context(), old, gross, data)
	require.NoError(t, err)
	r.user.mustAwait(t, "/withdraw-records", sent.String(), "OPPOSITE_CONFIRMED")
	r.user.requirePaid(t, fresh.Hex(), amount)
	before := r.user.spendable(t)
	sent, err = r.user.SendToGateway(t.Context(), old, gross, []byte("nonsense"))
	require.NoError(t, err)
	waitFor(t, "the refund", func() bool {
		return r.user.mustAwait(t, "/withdraw-records", sent.String(), "WRONG_WITHDRAW_ADDRESS").RefundState == "REFUNDED"
	})
	require.Equal(t, []string{next}, r.paidBy(t, sent.String()))
	require.Equal(t, before, r.user.spendable(t), "all of it")
	waitFor(t, "the old account to be empty again", func() bool { return r.holding(t, old, r.user.Token.Token).IsZero() })
	r.settledBooks(t)
	r.waitUntilWell(t)
}

// TestNewDepositSeed is the runbook of docs/operations/keys.md: new users get addresses of a
// successor, those of the first seed are credited and swept, and an account of the new seed takes
// over the payments. The daemon has no keys and reads nothing again for the addresses.
func TestNewDepositSeed(t *testing.T) {
	t.Parallel()
	const words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
	r := newRotationEnv(t, func(c *config.Config) { c.Watcher.Sweep = "@every 1s" })
	second, err := wallet.FromMnemonic(words)
	require.NoError(t, err)
	paths := wallet.SourcePaths(ethereum.CoinType)
	first := depositAddress(t, r.user)
	r.bridgeOnce(t, 1)

	late, err := newTestUser(t.Context(), r.info, r.token(t, "USDT"), 1, t.Output())
	require.NoError(t, err)
	t.Cleanup(late.Close)
	ended := r.startTransfers(t)
	stores, store, password := recoveredOf(t, words)
	successor := config.Successor{Store: filepath.Join(stores, store), PasswordFile: password, Accounts: []string{paths.Hot(1)}}
	r.signer.change(t, func(c *config.Config) { c.Wallet.Successors = []config.Successor{successor} })
	next := depositAddress(t, late)
	want, err := second.Address(paths.Deposit(1))
	require.NoError(t, err)
	require.Equal(t, want, next)
	require.Equal(t, first, depositAddress(t, r.user), "who has an address keeps it")
	ended()
	late.mustDeposit(t, late.Times(5))
	require.NoError(t, late.Collect(t.Context(), late.Times(5)))
	r.bridgeOnce(t, 2)
	for _, address := range []string{first, next} {
		waitFor(t, "a sweep of "+address, func() bool {
			left, err := r.user.Eth.Balance(t.Context(), r.user.Token.Asset, common.HexToAddress(address))
			return err == nil && left.Sign() == 0
		})
	}

	r.rotate(t, func(c *config.Config) { c.Ethereum[0].Accounts, c.Ethereum[0].Retired = 2, []int{0} })
	want, err = second.Address(paths.Hot(1))
	require.NoError(t, err)
	require.Equal(t, want, r.accounts(t, records.KindHot)[1].Address)
	r.bridgeOnce(t, 3)
	to, sent := late.withdrawToPayee(t, late.Times(3))
	late.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	late.requirePaid(t, to, late.Times(3))
	require.Equal(t, []string{want}, r.paidBy(t, sent))
	waitFor(t, "the old account to be empty", func() bool { return r.holding(t, r.hot(t), r.user.Token.Asset).IsZero() })

	r.signer.kill(t)
	r.signer.start(t)
	r.bridgeOnce(t, 4)
	r.settledBooks(t)

	// What was used is not taken away.
	r.signer.refuses(t, "remove none", func(c *config.Config) { c.Wallet.Successors = nil })
}

// TestNewApprover is the runbook of docs/operations/keys.md, with a separate signer process: a new
// approver counts from the signer's reload on, a removed one no longer.
func TestNewApprover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, list := [2]string{filepath.Join(dir, "ann.key"), filepath.Join(dir, "bob.key")}, [2]approval.Approver{{Name: "ann"}, {Name: "bob"}}
	for i, key := range keys {
		list[i].Key = strings.TrimSpace(mustRun(t, "approver", "new", key))
	}
	r := newRotationEnv(t, func(c *config.Config) {
		usdt := c.Networks[0].Tokens[1]
		c.Signer.Approvals = approval.Config{
			Approvers: list[:1],
			Tokens:    []approval.Token{{Network: c.Networks[0].Name, Token: usdt.Token, ApproveAbove: units(dev.Token{Decimals: usdt.Decimals}, 2_000)}},
		}
	})
	c := &custodyEnv{faultyEnv: r.faultyEnv}
	amount := units(r.user.Token, 2_500)
	withdraw := func() (to, sent, record string) {
		t.Helper()
		to, sent = r.user.withdrawToPayee(t, amount)
		return to, sent, c.waitForHeld(t, sent, records.HeldApproval)
	}
	paid := func(to, sent string) {
		t.Helper()
		r.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
		r.user.requirePaid(t, to, amount)
	}
	to, sent, record := withdraw()
	r.mustCommand(t, "approve", record, "--key", keys[0], "--yes")
	paid(to, sent)

	// Signed by a stranger, it waits; it is paid as soon as his key counts.
	to, sent, record = withdraw()
	_, _ = r.runCommand(t, "approve", record, "--key", keys[1], "--yes")
	require.Equal(t, "0", balanceText(t, r.user, to))
	r.signer.change(t, func(c *config.Config) { c.Signer.Approvals.Approvers = list[:] })
	waitFor(t, "the new approver to count", func() bool {
		_, _ = r.runCommand(t, "approve", record, "--key", keys[1], "--yes")
		return len(r.recordDetail(t, sent).Payments) > 0 && r.recordDetail(t, sent).Payments[len(r.recordDetail(t, sent).Payments)-1].State != string(records.HeldPayment)
	})
	paid(to, sent)

	// A removed approver approves nothing, and his earlier approvals of unpaid payments no longer
	// count.
	r.signer.change(t, func(c *config.Config) { c.Signer.Approvals.Approvers = list[1:] })
	to, sent, record = withdraw()
	_, _ = r.runCommand(t, "approve", record, "--key", keys[0], "--yes")
	r.mustCommand(t, "reload")
	small, other := r.user.withdrawToPayee(t, units(r.user.Token, 1_000))
	r.user.mustAwait(t, "/withdraw-records", other, "OPPOSITE_CONFIRMED")
	r.user.requirePaid(t, small, units(r.user.Token, 1_000))
	require.Equal(t, "0", balanceText(t, r.user, to))
	c.waitForHeld(t, sent, records.HeldApproval)
	r.mustCommand(t, "approve", record, "--key", keys[1], "--yes")
	paid(to, sent)
	r.settledBooks(t)
}

// balanceText returns an address's balance of the user's token.
func balanceText(t *testing.T, u *testUser, address string) string {
	t.Helper()
	has, err := u.Eth.Balance(t.Context(), u.Token.Asset, common.HexToAddress(address))
	require.NoError(t, err)
	return has.String()
}
