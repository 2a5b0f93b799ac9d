package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// maxDigits is the length of 2^256-1 in decimal: no amount of a node is longer.
const maxDigits = 78

// count reads the node's heights, counts and quota figures: decimal text in account-level objects,
// a number in snapshot blocks. null and "" are zero.
type count uint64

func (c *count) UnmarshalJSON(b []byte) error {
	text := unquoted(b)
	if text == "" || text == "null" {
		*c = 0
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("a count must be a decimal integer below 2^64, not %q", shortened(text))
	}
	*c = count(n)
	return nil
}

// amount reads amounts, fees and supplies: decimal text, a number in ledger_getConfirmedBalances.
// null and "" are zero.
type amount uint256.Int

func (a *amount) UnmarshalJSON(b []byte) error {
	text := unquoted(b)
	if text == "" || text == "null" {
		*a = amount{}
		return nil
	}
	n, err := parseAmount(text)
	if err != nil {
		return err
	}
	*a = amount(*n)
	return nil
}

func parseAmount(text string) (*uint256.Int, error) {
	if len(text) > maxDigits {
		return nil, fmt.Errorf("an amount must have at most %d digits", maxDigits)
	}
	for _, digit := range []byte(text) {
		if digit < '0' || digit > '9' {
			return nil, fmt.Errorf("an amount must be a decimal integer, not %q", shortened(text))
		}
	}
	n, err := uint256.FromDecimal(text)
	if err != nil {
		return nil, fmt.Errorf("an amount must be below 2^256")
	}
	return n, nil
}

// difficulty reads a PoW difficulty: decimal text; null and "" mean that there is none.
type difficulty struct{ *big.Int }

func (d *difficulty) UnmarshalJSON(b []byte) error {
	text := unquoted(b)
	if text == "" || text == "null" {
		d.Int = nil
		return nil
	}
	n, err := parseAmount(text)
	if err != nil {
		return fmt.Errorf("difficulty: %w", err)
	}
	d.Int = n.ToBig()
	return nil
}

// unquoted is a JSON string's content or a number's text. Numbers and texts of digits need no
// unescaping.
func unquoted(b []byte) string {
	if len(b) < 2 || b[0] != '"' {
		return string(b)
	}
	if inner := b[1 : len(b)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return string(b)
	}
	return s
}

// SendRawTransaction hands a signed block to the node. An error does not always mean that the block
// was not taken: see OutcomeUnknown, and note that a block that is already in the chain gives
// ErrPrevBlock. A block that is not fit to be sent (core.EncodeBlock) is core.ErrBlockJSON and
// stays here.
func (c *Client) SendRawTransaction(ctx context.Context, b *core.AccountBlock) error {
	raw, err := core.EncodeBlock(b)
	if err != nil {
		return err
	}
	return c.Call(ctx, nil, "ledger_sendRawTransaction", json.RawMessage(raw))
}

// SendRawTransactions hands signed blocks to the node as JSON, in order, and answers how many it
// took before the first refusal.
func (c *Client) SendRawTransactions(ctx context.Context, blocks []json.RawMessage) (taken int, err error) {
	return c.batchDone(ctx, "ledger_sendRawTransaction", len(blocks),
		func(i int) []any { return []any{blocks[i]} }, func(int) any { return new(json.RawMessage) })
}
