package records

import (
	"fmt"

	"gatewayd/chain"
)

// Incidents answers the ids of a chain's transfers that were decided and whose blocks left the chain, oldest first; at most 1000.
func (tx *Tx) Incidents(id chain.ID) (ids []uint64, err error) {
	if err := tx.list(&ids, `SELECT id FROM transfers WHERE chain = ? AND incident <> '' ORDER BY id LIMIT ? + 0`, string(id), maxPage); err != nil {
		return nil, fmt.Errorf("reading the incidents of %s: %w", id, err)
	}
	return ids, nil
}

// MarkLost marks the decided transfers above a height as gone with their blocks: the nodes have another past from there on.
func (tx *Tx) MarkLost(id chain.ID, above uint64) error {
	lost, err := tx.transfers(`WHERE chain = ? AND height > ? AND state IN ('final','held','refused') AND incident = '' ORDER BY height, id LIMIT ? + 0`,
		string(id), above, maxPage)
	for i := range lost {
		if err != nil {
			break
		}
		err = tx.markIncident(&lost[i])
	}
	if err != nil {
		return fmt.Errorf("marking what %s has lost above block %d: %w", id, above, err)
	}
	return nil
}

func (tx *Tx) markIncident(t *Transfer) error {
	t.Incident = fmt.Sprintf("decided, then its block %d %s left the chain", t.Height, t.BlockHash)
	if err := tx.change(`UPDATE transfers SET incident = ? WHERE id = ?`, t.Incident, t.ID); err != nil {
		return err
	}
	return tx.logTransfer(t.ID, "incident", t.Incident)
}

// clearIncidents takes back the marks of transfers whose blocks stand on our line: the nodes agree with them again.
func (tx *Tx) clearIncidents(id chain.ID) error {
	back, err := tx.transfers(`WHERE chain = ? AND incident <> '' AND EXISTS (SELECT 1 FROM blocks b
		WHERE b.chain = transfers.chain AND b.hash = transfers.block_hash AND b.canonical = 1) ORDER BY id LIMIT ? + 0`, string(id), maxPage)
	for _, t := range back {
		if err == nil {
			err = tx.clearIncident(t.ID)
		}
	}
	return err
}

func (tx *Tx) clearIncident(transfer uint64) error {
	if err := tx.change(`UPDATE transfers SET incident = '' WHERE id = ?`, transfer); err != nil {
		return err
	}
	return tx.logTransfer(transfer, "incident_over", "its block stands on the chain again")
}
