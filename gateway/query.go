package gateway

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"gatewayd/chain"
	"gatewayd/records"
)

// maxValue bounds one parameter, in characters: far more than any address, label or 256-bit number.
// All parameters together are bounded by serve.MaxHeader.
const maxValue = 256

// query is a parsed request: its parameters, its language and its client.
type query struct {
	values url.Values
	lang   string
	client string // what limits are counted by; empty for this machine
	token  records.Token
}

func readQuery(raw string) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return query{}, refuse(queryMalformed)
	}
	return query{values: values}, nil
}

// optional returns a parameter, "" when it is absent.
func (q query) optional(field string) (string, error) {
	v, err := q.anyLength(field)
	if err == nil && tooLong(v) {
		return "", refuse(parameterTooLong, "{field}", field, "{limit}", strconv.Itoa(maxValue))
	}
	return v, err
}

// anyLength is optional for free text of users. A repeated one has no meaning.
func (q query) anyLength(field string) (string, error) {
	switch v := q.values[field]; len(v) {
	case 0:
		return "", nil
	case 1:
		return v[0], nil
	}
	return "", refuse(parameterRepeated, "{field}", field)
}

func tooLong(value string) bool { return utf8.RuneCountInString(value) > maxValue }

// required returns a parameter that must not be absent or empty.
func (q query) required(field string) (string, error) {
	v, err := q.optional(field)
	if err == nil && v == "" {
		err = refuse(parameterMissing, "{field}", field)
	}
	return v, err
}

// amount reads an amount in smallest units. Wallets do send empty ones, decimals and negatives
// while users type (docs/gateway-clients.md 4.2).
func (q query) amount() (chain.Amount, error) {
	text, err := q.required("amount")
	if err != nil {
		return chain.Amount{}, err
	}
	amount, err := chain.ParseAmount(text)
	switch {
	case err == nil:
		return amount, nil
	case strings.Trim(text, "0123456789") == "":
		return chain.Amount{}, refuse(amountTooLarge)
	}
	return chain.Amount{}, refuse(amountFormat)
}

// containsFee reads true, false, 1 or 0 (iOS sends digits); absent is false, empty is none of them.
func (q query) containsFee() (bool, error) {
	text, err := q.optional("containsFee")
	if err != nil || !q.values.Has("containsFee") {
		return false, err
	}
	switch strings.ToLower(text) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, refuse(flagFormat, "{field}", "containsFee")
}

// maxPageSize cuts what callers ask for. It must not fall below 30: Android would take the shorter
// page for the last (docs/gateway-clients.md 4.4).
const maxPageSize = 100

// page reads pageNum, from 1, and pageSize as what to skip and how many to answer.
func (q query) page() (offset, limit int, err error) {
	num, err := q.number("pageNum")
	if err != nil {
		return 0, 0, err
	}
	size, err := q.number("pageSize")
	if err != nil {
		return 0, 0, err
	}
	size = min(size, maxPageSize)
	return (num - 1) * size, size, nil
}

// number parses an integer from 1. Values above 10^9 count as 10^9: no list is that long.
func (q query) number(field string) (int, error) {
	text, err := q.required(field)
	if err != nil {
		return 0, err
	}
	digits := strings.TrimLeft(text, "0")
	if digits == "" || strings.Trim(text, "0123456789") != "" {
		return 0, refuse(numberFormat, "{field}", field)
	}
	const most = 1_000_000_000
	if len(digits) > 9 {
		return most, nil
	}
	return strconv.Atoi(digits)
}

// tokenOf finds the token that tokenId names on a network.
func (q query) tokenOf(n records.Network) (records.Token, error) {
	id, err := q.required("tokenId")
	if err != nil {
		return records.Token{}, err
	}
	token, ok := n.Token(id)
	if !ok {
		return records.Token{}, refuse(tokenUnknown)
	}
	return token, nil
}

// wallet reads the user's address in its canonical form, so that one user never has two bindings.
func (q query) wallet(exchange addressChecker) (string, error) {
	text, err := q.required("walletAddress")
	if err != nil {
		return "", err
	}
	address, err := exchange.CheckAddress(text, "")
	if err != nil {
		return "", refuse(walletInvalid)
	}
	return address, nil
}
