package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/exchangeapi/rates"
	"gatewayd/signer/remote"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// ExchangeAPI checks the dependencies of the exchange API: the chain's exchange, the store of API
// keys, and the sources of rates.
func (d *Doctor) ExchangeAPI(ctx context.Context) {
	cfg := d.Config.Exchange
	if cfg == nil {
		return
	}
	d.exchangeNode(ctx, "exchange", cfg.Node)
	if cfg.Test != nil {
		d.exchangeNode(ctx, "test exchange", cfg.Test.Node)
	}
	d.apiKeys(ctx, *cfg)
	d.rates(ctx, *cfg)
	d.listener("exchange", cfg.Config.Config)
	d.certificate("exchange certificate", "exchange.tls", cfg.TLS)
}

// exchangeNode checks that a node answers, is up to date, and has an exchange whose clock goes.
func (d *Doctor) exchangeNode(ctx context.Context, what, url string) {
	node, err := client.Dial(ctx, url, client.Options{})
	if err != nil {
		d.add(false, what+" node", err.Error(), "start the node or correct exchange.node")
		return
	}
	defer node.Close()
	head, err := node.LatestSnapshotBlock(ctx)
	if err != nil {
		d.add(false, what+" node", err.Error(), "start the node or correct exchange.node")
		return
	}
	d.drift(what+" node", d.Now().Sub(head.Time))
	d.contracts(ctx, what, node)
	d.exchangeCalls(ctx, what, node)
	d.announcements(ctx, what, node)
	clock, err := node.ExchangeTime(ctx)
	if err != nil {
		d.add(false, what+" clock", err.Error(), "the node must answer dextrade_getTimestamp: is the exchange in the chain's genesis?")
		return
	}
	d.add(clock > 0 && d.Now().Sub(time.Unix(clock, 0)).Abs() < maxDrift, what+" clock", "told "+told(d.Now(), clock),
		"orders and candles have an old time: the exchange's time account must send NotifyTime to "+core.DexFundContract.String())
}

// told formats the time at which the exchange's clock was set.
func told(now time.Time, clock int64) string {
	if clock == 0 {
		return "never"
	}
	return now.Sub(time.Unix(clock, 0)).Truncate(time.Second).String() + " ago"
}

func (d *Doctor) contracts(ctx context.Context, what string, node *client.Client) {
	for _, contract := range []core.Address{core.DexFundContract, core.DexTradeContract} {
		info, err := node.ContractInfo(ctx, contract)
		if err == nil && info == nil {
			err = errors.New("no contract at this address")
		}
		if err != nil {
			d.add(false, fmt.Sprintf("%s contract %s", what, contract), err.Error(), "the node's chain must have an exchange")
			return
		}
	}
	markets, err := node.Markets(ctx)
	if err != nil {
		d.add(false, what+" markets", err.Error(), "the node must answer dexfund_getAllTradePairs")
		return
	}
	d.add(len(markets) > 0, what+" markets", fmt.Sprint(len(markets)), "there are no markets yet: the owner of a token opens its market")
}

// apiKeys checks that the store of keys opens with its secret. Neither is made here.
func (d *Doctor) apiKeys(ctx context.Context, cfg config.Exchange) {
	const what = "API keys"
	database, isFile := strings.CutPrefix(cfg.Keys, "sqlite:")
	_, err := os.Stat(database)
	fresh := isFile && errors.Is(err, os.ErrNotExist)
	_, err = os.Stat(cfg.SecretFile)
	switch {
	case fresh:
		d.add(true, what, "created at the first start", "")
		return
	case cfg.SecretEnv == "" && errors.Is(err, os.ErrNotExist):
		d.add(false, what, "the database is there, and "+cfg.SecretFile+" is not", "restore the secret from its copy; with another one no key works")
		return
	}
	found, err := countKeys(ctx, cfg, d.Getenv)
	if err != nil {
		d.add(false, what, err.Error(), "correct exchange.keys, secret_file or secret_env: the database needs the secret that it was created with")
		return
	}
	d.add(true, what, found, "")
}

// countKeys is the number of API keys in use and of revoked ones, as text.
func countKeys(ctx context.Context, c config.Exchange, getenv func(string) string) (string, error) {
	keys, err := daemon.OpenKeys(ctx, c, getenv)
	if err != nil {
		return "", err
	}
	list, err := keys.List(ctx)
	if err := errors.Join(err, keys.Close()); err != nil {
		return "", err
	}
	good := 0
	for _, k := range list {
		if k.Revoked.IsZero() {
			good++
		}
	}
	return fmt.Sprintf("%d in use, %d revoked", good, len(list)-good), nil
}

// rates asks every source of rates once.
func (d *Doctor) rates(ctx context.Context, cfg config.Exchange) {
	open, err := daemon.OpenFeeds(cfg.Chains, cfg.Rates.Feeds)
	if err != nil {
		d.add(false, "price feeds", err.Error(), "correct exchange.rates.feeds")
		return
	}
	defer open.Close()
	for _, r := range rates.Probe(ctx, cfg.Rates, open, d.Now) {
		switch {
		case r.Err != nil:
			d.add(false, r.What, r.Err.Error(), "correct exchange.rates: clients get no rate from it")
		case r.Stale:
			d.add(false, r.What, r.Found, "the source has had no update for longer than max_age or heartbeat: clients get the rate marked stale")
		default:
			d.add(true, r.What, r.Found, "")
		}
	}
}

// wallet checks that the daemon will get its keys: the store and the password's file are there, and
// the one opens with the other. Without a store only `gatewayd dev` can have run.
func (d *Doctor) wallet(ran bool) {
	const what = "wallet"
	cfg := d.Config.Wallet
	switch {
	case cfg.Remote():
		d.signer()
		return
	case cfg.Store == "" && ran:
		d.Warn(false, what, "wallet.store is not set: a development environment", "`gatewayd run` requires one")
		return
	case cfg.Store == "":
		d.add(false, what, "wallet.store is not set", "create one with `gatewayd wallet new` and set wallet.store")
		return
	}
	if _, err := os.Stat(cfg.Store); err != nil {
		d.add(false, what, plainFileFault(cfg.Store, err), "correct wallet.store, or create a store with `gatewayd wallet new`; a name without a path refers to the folder wallet of the data directory")
		return
	}
	if cfg.PasswordFile == "" && cfg.PasswordEnv == "" {
		d.Warn(false, what, cfg.Store+" exists; its password is read from the terminal at each start", "with wallet.password_file or password_env the daemon starts unattended")
		return
	}
	if err := d.unlock(cfg); err != nil {
		d.add(false, what, cfg.Store+": "+err.Error(), "wallet.password_file or password_env must contain the store's password")
		return
	}
	d.add(true, what, cfg.Store+" unlocks; the daemon signs in its own process", "")
}

// signer asks the signer of another process.
func (d *Doctor) signer() {
	const what = "signer"
	cfg := d.Config.Wallet
	client, err := remote.Dial(cfg.Target())
	if err != nil {
		d.add(false, what, err.Error(), "correct wallet.signer and wallet.signer_tls")
		return
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), signerTime)
	defer cancel()
	guard, err := client.Identity(ctx)
	if err != nil {
		d.add(false, what, cfg.Signer+": "+err.Error(), "start `gatewayd signer`; its log shows why it ended, or which clients it refuses")
		return
	}
	d.add(true, what, cfg.Signer+" signs; sign-guard "+guard.ID, "")
	d.signerPolicy(ctx, client)
}

// signerPolicy compares the signer's networks, tokens and chains with those of this configuration.
func (d *Doctor) signerPolicy(ctx context.Context, client *remote.Client) {
	const what = "signer policy"
	report, err := client.Report(ctx)
	if err == nil && report.Policy == nil {
		err = errors.New("the signer does not report its policy")
	}
	own, fault := d.Config.Policy()
	if err = errors.Join(err, fault); err != nil {
		d.Warn(false, what, err.Error(), "compare the tokens and networks of both configurations, or upgrade the signer")
		return
	}
	found := "hash " + own.Hash() + ", the same as the signer's"
	names := own.Differences(report.Policy)
	if len(names) > 0 {
		found = fmt.Sprintf("hash %s, the signer's %s; different: %s", own.Hash(), config.Policy(report.Policy).Hash(), strings.Join(names, ", "))
	}
	d.Warn(len(names) == 0, what, found, "the signer holds payments by its own file: copy the policy file to its machine, reload the signer, then the daemon")
}

// signerProofs asks the signer of another process where it cannot prove coin that only balances
// show, and why, and how many approvers it has.
func (d *Doctor) signerProofs() (unprovable map[chain.ID]string, approvers int, err error) {
	client, err := remote.Dial(d.Config.Wallet.Target())
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), signerTime)
	defer cancel()
	report, err := client.Report(ctx)
	return report.Unprovable, report.Approvers, err
}

// signerTime bounds its answer.
const signerTime = 10 * time.Second

// plainFileFault returns the reason for people why a file cannot be read.
func plainFileFault(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "missing file " + path
	}
	return err.Error()
}
