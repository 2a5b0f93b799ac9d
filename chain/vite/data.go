package vite

import (
	"encoding/binary"
	"errors"
	"fmt"

	"gatewayd/chain"
)

// The layout of payment data: content type 0x0001 (binary, reserved by VEP-8), version, purpose,
// tag, id.
const (
	dataSize    = 16
	dataVersion = 1
	tagSize     = 4

	contentBinary = 0x0001
)

// ErrPaymentData marks block data that is not ours.
var ErrPaymentData = errors.New("no payment data")

// PaymentData is the data in the block of a payment of ours, so that the ledger alone identifies
// the payment, even with every database lost (docs/payment-rules.md 3).
type PaymentData struct {
	Tag     string // of the gateway, four characters
	Purpose chain.Purpose
	ID      uint64 // of the payment row
}

// EncodePaymentData gives 16 bytes: 0x0001, version 1, purpose, tag, id big-endian. Purposes that
// send nothing on this ledger and tags of another length are ErrPaymentData.
func EncodePaymentData(d PaymentData) ([]byte, error) {
	code, err := purposeCode(d.Purpose)
	if err != nil {
		return nil, err
	}
	if len(d.Tag) != tagSize {
		return nil, fmt.Errorf("%w: tag of %d characters, want %d", ErrPaymentData, len(d.Tag), tagSize)
	}
	data := make([]byte, 0, dataSize)
	data = binary.BigEndian.AppendUint16(data, contentBinary)
	data = append(data, dataVersion, code)
	data = append(data, d.Tag...)
	return binary.BigEndian.AppendUint64(data, d.ID), nil
}

// DecodePaymentData reads what EncodePaymentData wrote. Everything else is ErrPaymentData.
func DecodePaymentData(data []byte) (PaymentData, error) {
	switch {
	case len(data) != dataSize:
		return PaymentData{}, fmt.Errorf("%w: %d bytes, want %d", ErrPaymentData, len(data), dataSize)
	case binary.BigEndian.Uint16(data) != contentBinary:
		return PaymentData{}, fmt.Errorf("%w: another content type", ErrPaymentData)
	case data[2] != dataVersion:
		return PaymentData{}, fmt.Errorf("%w: version %d", ErrPaymentData, data[2])
	}
	purpose, err := purposeOf(data[3])
	if err != nil {
		return PaymentData{}, err
	}
	return PaymentData{Tag: string(data[4:8]), Purpose: purpose, ID: binary.BigEndian.Uint64(data[8:])}, nil
}

// purposeCode is written to the ledger: a code never changes its meaning.
func purposeCode(p chain.Purpose) (byte, error) {
	switch p {
	case chain.Credit:
		return 1, nil
	case chain.Refund:
		return 2, nil
	case chain.Sweep:
		return 3, nil
	}
	return 0, fmt.Errorf("%w: nothing is sent for purpose %q", ErrPaymentData, p)
}

func purposeOf(code byte) (chain.Purpose, error) {
	for _, p := range []chain.Purpose{chain.Credit, chain.Refund, chain.Sweep} {
		if c, err := purposeCode(p); err == nil && c == code {
			return p, nil
		}
	}
	return "", fmt.Errorf("%w: purpose code %d", ErrPaymentData, code)
}
