package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/wallet"
)

// TestScripts runs the program as an operator does, in testdata/script, next to a daemon with a few
// records. Scripts have the variables
//
//	$CONFIG    configuration of the running daemon
//	$DATA      its directory
//	$EXAMPLE   config.example.yaml
//	$SOURCE, $EXCHANGE   its nodes
//	$USDT      the contract of USDT on the source chain
//	$HEALTH    the daemon's health address
//	$TAKEN     host and port that the gateway listens on
//	$DEPOSIT, $WITHDRAWAL, $REFUSED, $STRAY   hashes of records
//	$FUNDING   number of a record of the operators' own money
//	$SHORT, $SHOWN   the beginning of $DEPOSIT, and a table's form of it
//	$PAYEE     payee of the withdrawal
//	$PRIMARY   first address of the public mnemonic
//
// and the commands `edit FILE OLD NEW`, which writes FILE from the configuration with a text
// replaced, `schema FILE N`, which makes a database N versions away from this one, and `lock FILE`,
// which keeps one locked.
func TestScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Period = time.Second }) // doctor compares block times with the clock
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	primary, err := keys.Address(wallet.GatewayPath(0))
	require.NoError(t, err)
	u := r.newCustomer(t, "USDT")
	vars := map[string]string{"CONFIG": r.Info.Config, "DATA": filepath.Dir(r.Info.Config), "HEALTH": dev.RootOf(r.Info.Gateway) + "/health", "TAKEN": strings.TrimPrefix(dev.RootOf(r.Info.Gateway), "http://"), "PRIMARY": primary}
	example, err := filepath.Abs("../../config.example.yaml")
	require.NoError(t, err)
	vars["EXAMPLE"], vars["SOURCE"], vars["EXCHANGE"], vars["USDT"] = example, r.Info.Source, r.Info.Exchange, u.Token.Asset
	vars["DEPOSIT"] = r.listRecords(t, "--direction", "deposit")[0].InTx
	_, err = u.Faucet.Pay(t.Context(), u.Token.Asset, common.HexToAddress(r.Daemon.Networks[0].Hot), u.Times(1).Uint256().ToBig(), nil) // the first one may be older than the records
	require.NoError(t, err)
	waitFor(t, "funding in the records", func() bool { return len(r.listRecords(t, "--direction", "funding")) > 0 })
	vars["FUNDING"] = strconv.FormatUint(r.listRecords(t, "--direction", "funding")[0].ID, 10)
	vars["SHORT"], vars["SHOWN"] = vars["DEPOSIT"][:12], shortHash(vars["DEPOSIT"])
	vars["PAYEE"], vars["WITHDRAWAL"] = u.withdrawToPayee(t, u.Times(5))
	refused, err := u.SendToGateway(t.Context(), gatewayOf(t, u), u.Times(3), nil)
	require.NoError(t, err)
	vars["REFUSED"] = refused.String()
	dai := r.token(t, "DAI")
	_, err = u.Faucet.Pay(t.Context(), dai.Asset, u.Eth.Address(), units(dai, 2000).Uint256().ToBig(), nil)
	require.NoError(t, err)
	vars["STRAY"] = u.pay(t, dai.Asset, depositAddress(t, u), units(dai, 2000), "")
	u.mustAwait(t, "/withdraw-records", vars["WITHDRAWAL"], "OPPOSITE_CONFIRMED")
	waitFor(t, "the stray", func() bool { return len(r.needingOperator(t)) == 1 })
	r.waitUntilSettled(t)

	t.Run("scripts", func(t *testing.T) { // the environment runs until all of them are done
		testscript.Run(t, testscript.Params{
			Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
			Setup: func(e *testscript.Env) error {
				for k, v := range vars {
					e.Setenv(k, v)
				}
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"edit": edit, "schema": schema, "lock": lock},
		})
	})
}

// edit makes a file of the configuration with every occurrence of a text replaced.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(ts.Getenv("CONFIG"))
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%q is not in the configuration:\n%s", args[1], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

// schema makes a database whose version is so much above, or below, what the program knows.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: schema FILE VERSIONS")
	}
	path := ts.MkAbs(args[0])
	s, err := records.Open(context.Background(), records.Config{URL: "sqlite:" + path})
	ts.Check(err)
	ts.Check(s.Close())
	db, err := sql.Open("sqlite3", path)
	ts.Check(err)
	defer db.Close()
	switch args[1] {
	case "1":
		_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) SELECT MAX(version_id) + 1, 1 FROM goose_db_version`)
	case "-1":
		_, err = db.Exec(`DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)`)
	}
	ts.Check(err)
}

// lock writes to a database until the script ends.
func lock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lock FILE")
	}
	db, err := sql.Open("sqlite3", ts.MkAbs(args[0])+"?_txlock=immediate")
	ts.Check(err)
	tx, err := db.Begin()
	ts.Check(err)
	ts.Defer(func() { _, _ = tx.Rollback(), db.Close() })
}

// TestExampleConfig loads the example strictly and misses no key in it.
func TestExampleConfig(t *testing.T) {
	const path = "../../config.example.yaml"
	cfg, err := config.Load(path)
	require.NoError(t, err)
	require.Len(t, cfg.Networks, 1)
	require.Len(t, cfg.Networks[0].Tokens, 2)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var missing []string
	for _, key := range keysOf(reflect.TypeFor[config.Config]()) {
		if !regexp.MustCompile(`(?m)(^|[\s{#])` + key + `:`).Match(text) {
			missing = append(missing, key)
		}
	}
	require.Empty(t, missing)
}

// keysOf lists the YAML keys of a configuration and of everything in it.
func keysOf(t reflect.Type) (keys []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if key != "" && key != "-" {
			keys = append(append(keys, key), keysOf(t.Field(i).Type)...)
		}
	}
	return keys
}
