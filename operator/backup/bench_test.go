package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/operator/backup"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// BenchmarkCommitsBesideABackup measures commits of twenty rows on records with 100,000 past
// payments, alone and during continuous backups to the same disk.
func BenchmarkCommitsBesideABackup(b *testing.B) {
	cfg := config.Config{Data: b.TempDir(), Networks: []config.Network{{Name: "main"}}}
	cfg.Database.URL = "sqlite:" + filepath.Join(cfg.Data, "gatewayd.db")
	cfg.Path = filepath.Join(cfg.Data, "config.yaml")
	require.NoError(b, os.WriteFile(cfg.Path, nil, 0o600))
	_, err := recordstest.Fill(b.Context(), cfg.Database.URL, recordstest.Plan{Payments: 100_000, At: time.Unix(1_700_000_000, 0), Network: records.Network{
		Name: "main", Source: "eth", Exchange: "vite", Hot: "0xhot", Gas: "0xgas", Gateway: "vite_gateway",
		Tokens: []records.Token{{TokenID: "tti_687d8a93915393b219212c73", Decimals: 2, AssetDecimals: 4, Asset: "0xusd", Policy: records.Policy{Decimals: 2, AssetDecimals: 4}}},
	}})
	require.NoError(b, err)
	guard, err := signguard.Open(filepath.Join(cfg.Data, "guard.db"))
	require.NoError(b, err)
	require.NoError(b, guard.Close())
	s, err := records.Open(b.Context(), cfg.Database)
	require.NoError(b, err)
	defer s.Close()
	for b.Loop() {
		commits(b, s, "alone", func() { <-time.After(5 * time.Second) })
		size, copies, from := int64(0), 0, time.Now()
		commits(b, s, "beside", func() {
			for range 3 {
				target := filepath.Join(b.TempDir(), "backup.tar")
				m, err := backup.Write(b.Context(), cfg, target, backup.Options{})
				require.NoError(b, err)
				size, copies = m.Files[0].Size, copies+1
			}
		})
		b.ReportMetric(time.Since(from).Seconds()/float64(copies), "s/backup")
		b.ReportMetric(float64(size)/1e6, "MB")
	}
}

// commits commits every ten milliseconds until an act is done.
func commits(b *testing.B, s *records.Store, name string, act func()) {
	var done atomic.Bool
	go func() {
		defer done.Store(true)
		act()
	}()
	var took []time.Duration
	for n := 0; !done.Load(); n++ {
		from := time.Now()
		require.NoError(b, s.Update(b.Context(), func(tx *records.Tx) error {
			for i := range 20 {
				account := fmt.Sprintf("0x%s%d/%d/%d", name, from.UnixNano(), n, i)
				if err := tx.Accounts().Ensure(records.Account{Chain: "eth", Account: account, Kind: records.KindDeposit, Network: "main", KeyPath: account}); err != nil {
					return err
				}
			}
			return nil
		}))
		took = append(took, time.Since(from))
		<-time.After(10 * time.Millisecond)
	}
	slices.Sort(took)
	for unit, d := range map[string]time.Duration{"median": took[len(took)/2], "p99": took[len(took)*99/100], "longest": took[len(took)-1]} {
		b.ReportMetric(float64(d.Microseconds())/1000, name+"-"+unit+"-ms")
	}
}
