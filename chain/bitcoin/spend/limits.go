package spend

import (
	"fmt"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// Limits bound transactions. All are set.
type Limits struct {
	Relay    Rate  // below it nodes relay nothing; a replacement pays as much more
	MaxRate  Rate  // of one transaction
	MaxFee   int64 // satoshi of one transaction
	MaxCoins int   // that one transaction spends
	Cheap    Rate  // small coins are merged at or below it; 0: never
}

// of are the limits of a payment's transaction. One that only merges coins waits for cheap blocks.
func (l Limits) of(pay chain.Payment) Limits {
	if pay.Purpose == chain.Merge && pay.Source == "" {
		l.MaxRate = min(l.MaxRate, l.Cheap)
	}
	return l
}

// most is the highest fee of a transaction. Without change it may take what would have been dust,
// and the output of that. With a parent, whose change it spends, it may pay for that too; the
// parent's witnesses do not count, because its name does not cover them.
func (l Limits) most(n *network.Network, size int64, change bool, parent *wire.MsgTx) int64 {
	if parent != nil {
		size += int64(parent.SerializeSizeStripped())
	}
	if change {
		return min(l.MaxFee, l.MaxRate.Fee(size))
	}
	script := make([]byte, scriptSize(network.P2TR))
	script[0], script[1] = txscript.OP_1, txscript.OP_DATA_32
	size += int64(wire.NewTxOut(0, script).SerializeSize())
	return min(l.MaxFee, l.MaxRate.Fee(size)+n.Dust(script))
}

// check holds a fee against the highest of the transaction and that of its payment, and the shares
// against those of a batch's payments.
func check(fee, most int64, pay chain.Payment, outputs []*wire.TxOut) error {
	if fee > most {
		return fmt.Errorf("fee: %w: %d satoshi are over %d", chain.ErrFeeCeiling, fee, most)
	}
	if most := pay.MaxFee; !most.IsZero() && most.Less(chain.NewAmount(uint64(fee))) {
		return fmt.Errorf("fee: %w: %d satoshi are over %s of payment %d", chain.ErrFeeCeiling, fee, most, pay.ID)
	}
	pays, err := members(pay)
	if err != nil || len(pays) == 0 {
		return err
	}
	for i, share := range Shares(fee, outputs[:len(pays)]) {
		if most := pays[i].MaxFee; !most.IsZero() && most.Less(chain.NewAmount(uint64(share))) {
			return fmt.Errorf("fee: %w: %d satoshi of payment %d are over its %s", chain.ErrFeeCeiling, share, pays[i].ID, most)
		}
	}
	return nil
}
