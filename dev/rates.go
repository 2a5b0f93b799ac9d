package dev

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gatewayd/exchangeapi/rates"
)

// devPrices are made up, as everything in a development environment is, but for what clients must
// find: a price of every token of it, and the tether's in two currencies, which is the USD-CNY
// rate.
//
//go:embed rates.json
var devPrices []byte

// Rates lets the exchange API answer from the price list in the environment's directory. It is
// there to be edited: what is changed is answered seconds later, and nothing in it grows old.
func Rates(dir string) rates.Config {
	return rates.Config{
		File: filepath.Join(dir, "rates.json"), Refresh: "@every 5s", MaxAge: 100 * 365 * 24 * time.Hour,
		Coins: map[string]string{"VITE": "vite", "ETH": "ethereum", "USDT": "tether", "DAI": "dai"},
	}
}

// WritePrices makes the price list unless there is one.
func WritePrices(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.Write(devPrices)
		err = errors.Join(err, f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing the price list: %w", err)
	}
	return nil
}
