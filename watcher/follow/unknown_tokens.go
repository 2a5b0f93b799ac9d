package follow

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

const (
	unknownTokensRole  = "unknown_tokens" // of the heartbeat that is the time of the last line
	unknownTokensEvery = 24 * time.Hour
	UnknownTokensCheck = time.Minute
)

// ReportUnknownTokens logs at most once a day how many transfers of tokens came in that no network
// serves.
func ReportUnknownTokens(ctx context.Context, store records.Transactor, log logrus.FieldLogger) error {
	var transfers, tokens uint64
	err := store.Update(ctx, func(tx *records.Tx) (err error) {
		last, ever, err := records.LastBeat(tx, unknownTokensRole)
		if err != nil || (ever && last.Age < unknownTokensEvery) {
			return err
		}
		if transfers, tokens, err = tx.Transfers().UnknownTokens(last.At); err != nil || transfers == 0 {
			return err
		}
		return records.Beat(tx, unknownTokensRole)
	})
	if err == nil && transfers > 0 {
		log.WithFields(logrus.Fields{"transfers": transfers, "tokens": tokens}).
			Info("transfers of unknown tokens came in: `gatewayd records list --unknown-tokens` lists them")
	}
	return err
}

// levelOf is the level at which the log has a transfer's steps: unknown tokens have a line a day
// instead.
func levelOf(tx *records.Tx, t records.Transfer) logrus.Level {
	if unknown, err := tx.Transfers().OfUnknownToken(t); err == nil && unknown {
		return logrus.DebugLevel
	}
	return logrus.InfoLevel
}
