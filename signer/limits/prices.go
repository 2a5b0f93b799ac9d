package limits

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"time"

	"gatewayd/chain"
)

// maxPrices bounds the file of prices, in bytes.
const maxPrices = 1 << 20

// price is the value of one token at a time.
type price struct {
	worth *big.Rat
	at    time.Time
}

// parseValue reads an amount of money: digits, with a point or without.
func parseValue(text string) (*big.Rat, error) {
	if text == "" || len(text) > 40 || strings.Trim(text, "0123456789.") != "" {
		return nil, fmt.Errorf("%q is not an amount: must be digits, with or without a decimal point", text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is not an amount", text)
	}
	return r, nil
}

// prices is a file that an operator updates: a line has token ID, price of one token and the time
// of the price; "#" begins a comment.
type prices struct {
	path  string
	stamp time.Time
	size  int64
	known map[string]price
	fault error // why the file of now is not used; the prices before stay until they are too old
}

// refresh reads the file if it has changed.
func (p *prices) refresh() {
	if p.path == "" {
		return
	}
	info, err := os.Stat(p.path)
	if err != nil {
		p.fault = fmt.Errorf("reading the prices: %w", err)
		return
	}
	if p.known != nil && info.ModTime().Equal(p.stamp) && info.Size() == p.size {
		return
	}
	p.stamp, p.size = info.ModTime(), info.Size()
	known, err := readPrices(p.path)
	if p.fault = err; err == nil {
		p.known = known
	}
}

func readPrices(path string) (map[string]price, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the prices: %w", err)
	}
	defer f.Close()
	known, n := map[string]price{}, 0
	lines := bufio.NewScanner(io.LimitReader(f, maxPrices+1))
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		token, one, err := parsePrice(text)
		if err != nil {
			return nil, fmt.Errorf("reading the prices: line %d: %w", n, err)
		}
		known[token] = one
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the prices: line %d: %w", n+1, err)
	}
	return known, nil
}

func parsePrice(text string) (token string, one price, err error) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return "", one, errors.New("token id, price and time are required")
	}
	if one.worth, err = parseValue(fields[1]); err != nil {
		return "", one, err
	}
	if one.worth.Sign() == 0 { // no limit would hold a token that is worth nothing
		return "", one, errors.New("the price must be above zero")
	}
	if one.at, err = time.Parse(time.RFC3339, fields[2]); err != nil {
		return "", one, fmt.Errorf("time %q: must have the form 2026-11-23T12:00:00Z", fields[2])
	}
	return fields[0], one, nil
}

// current is the price of a token, if it is not too old. One of the future counts as one of now: it
// grows old by the clock all the same.
func (p *prices) current(token string, now time.Time, age time.Duration) (*big.Rat, bool) {
	one, ok := p.known[token]
	if !ok || now.Sub(one.at) > age || one.at.Sub(now) > age {
		return nil, false
	}
	return one.worth, true
}

// valueOf returns the value of an amount.
func valueOf(a chain.Amount, decimals uint8, worth *big.Rat) *big.Rat {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	whole := new(big.Rat).SetFrac(a.Uint256().ToBig(), unit)
	return whole.Mul(whole, worth)
}
