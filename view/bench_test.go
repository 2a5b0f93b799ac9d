package view_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// BenchmarkPage reads a wallet's page of 20 of a user who has 100,000 records: the first and the
// last.
func BenchmarkPage(b *testing.B) {
	r := recordstest.NewRig(b)
	const rows = 100_000
	block := r.Mine(recordstest.Source, "")
	for done := 0; done < rows; done += 10_000 {
		r.Do(func(tx *records.Tx) error {
			for range 10_000 {
				if _, _, err := tx.Transfers().See(r.Incoming(records.Deposit, 500, block)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, offset := range []int{0, rows - 20} {
		b.Run(fmt.Sprint("offset ", offset), func(b *testing.B) {
			for b.Loop() {
				r.See(func(tx *records.Tx) error {
					list, total, err := r.Pages.Page(tx, recordstest.Network, recordstest.Token, recordstest.Alice, records.Deposit, offset, 20)
					require.Len(b, list, 20)
					require.Equal(b, rows, total)
					return err
				})
			}
		})
	}
}

// BenchmarkSmallPage reads all of a user who has 20 deposits, half of them paid.
func BenchmarkSmallPage(b *testing.B) {
	r := recordstest.NewRig(b)
	for range 10 {
		_, p := r.Owe(records.Deposit, 500)
		r.Pay(p)
		r.Receive(records.Deposit, 500)
	}
	for b.Loop() {
		r.See(func(tx *records.Tx) error {
			list, _, err := r.Pages.Page(tx, recordstest.Network, recordstest.Token, recordstest.Alice, records.Deposit, 0, 20)
			require.Len(b, list, 20)
			return err
		})
	}
}
