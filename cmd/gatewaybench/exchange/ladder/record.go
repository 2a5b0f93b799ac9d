package ladder

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// RecordSize is the size of a record in a stream file.
const RecordSize = 24

// ErrRecord marks bytes that are no record of an order stream.
var ErrRecord = errors.New("invalid record")

// Kind is what a record does.
type Kind uint8

// The kinds of records.
const (
	Enter  Kind = 0
	Cancel Kind = 1
	Modify Kind = 2 // cancels the order and enters it again, as the newest, if it was still in the book
)

// Record is a message of an order stream.
type Record struct {
	Kind      Kind
	Sell      bool
	Immediate bool // what does not match is not kept
	Quantity  uint32
	ID        uint64
	Price     int64 // in ticks, above zero; of a cancel it says nothing
}

// Decode reads the records of a stream file: 24 bytes each, little endian, {u8 kind; u8 1 = sell; u8 1 = immediate; u8 0;
// u32 quantity; u64 id; i64 price}. Errors are ErrRecord.
func Decode(raw []byte) ([]Record, error) {
	if len(raw)%RecordSize != 0 {
		return nil, fmt.Errorf("%w: %d bytes are not whole records", ErrRecord, len(raw))
	}
	records := make([]Record, len(raw)/RecordSize)
	for i := range records {
		if err := records[i].decode(raw[i*RecordSize:]); err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
	}
	return records, nil
}

func (r *Record) decode(b []byte) error {
	*r = Record{
		Kind: Kind(b[0]), Sell: b[1] == 1, Immediate: b[2] == 1,
		Quantity: binary.LittleEndian.Uint32(b[4:]), ID: binary.LittleEndian.Uint64(b[8:]), Price: int64(binary.LittleEndian.Uint64(b[16:])),
	}
	switch {
	case r.Kind > Modify:
		return fmt.Errorf("%w: kind %d", ErrRecord, b[0])
	case b[1] > 1:
		return fmt.Errorf("%w: side %d", ErrRecord, b[1])
	case b[2] > 1, b[3] != 0:
		return fmt.Errorf("%w: flags %d, %d", ErrRecord, b[2], b[3])
	case r.Kind != Cancel && (r.Price <= 0 || r.Quantity == 0):
		return fmt.Errorf("%w: price %d, quantity %d", ErrRecord, r.Price, r.Quantity)
	}
	return nil
}

// Encode is the inverse of Decode.
func Encode(records []Record) []byte {
	raw := make([]byte, 0, len(records)*RecordSize)
	for i := range records {
		r := &records[i]
		raw = append(raw, byte(r.Kind), bit(r.Sell), bit(r.Immediate), 0)
		raw = binary.LittleEndian.AppendUint32(raw, r.Quantity)
		raw = binary.LittleEndian.AppendUint64(raw, r.ID)
		raw = binary.LittleEndian.AppendUint64(raw, uint64(r.Price))
	}
	return raw
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
