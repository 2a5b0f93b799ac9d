package bench

import (
	"context"
	"crypto/ed25519"
	"errors"

	"gatewayd/chain/vite/core"
)

// signatureCases compare the exchange chain's signature with the standard library's, which signs another hash.
func signatureCases() []Case {
	return []Case{{
		Name: "signature", Group: Exchange, Unit: "signature",
		About: "an Ed25519-BLAKE2b signature is verified; yardstick: crypto/ed25519",
		Ours:  verifyOurs, Yardsticks: []Yardstick{{"standard library", verifyStandard}},
		Goals:  []Goal{{Of: CPU, Budget: 1.1, Limit: 1}},
		Scales: []float64{1},
	}}
}

var errVerify = errors.New("a good signature does not verify")

func verifyOurs(_ context.Context, r *Run) (Figure, error) {
	key, err := core.NewPrivateKey(make([]byte, core.SeedSize))
	if err != nil {
		return Figure{}, err
	}
	message, public := make([]byte, 32), key.Public()
	signature := key.Sign(message)
	n := r.N(10_000)
	return r.Measure(n, func() error {
		for range n {
			if !core.Verify(public[:], message, signature) {
				return errVerify
			}
		}
		return nil
	})
}

func verifyStandard(_ context.Context, r *Run) (Figure, error) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	message := make([]byte, 32)
	public, signature := key.Public().(ed25519.PublicKey), ed25519.Sign(key, message)
	n := r.N(10_000)
	return r.Measure(n, func() error {
		for range n {
			if !ed25519.Verify(public, message, signature) {
				return errVerify
			}
		}
		return nil
	})
}
