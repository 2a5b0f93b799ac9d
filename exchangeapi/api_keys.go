package exchangeapi

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/vite/core"
)

// The window of a wallet's proof: wallets put the newest snapshot block's time into it, which may
// be a little old.
const (
	proofAge   = 5 * time.Minute
	proofAhead = time.Minute
)

// removalPrefix keeps a proof that asks for a key from removing one.
const removalPrefix = "remove_"

// agentInfo contains an account's delegation address and key. The web wallet reads these members
// (docs/exchange-rest.md 1.10).
type agentInfo struct {
	AgentAddress string  `json:"agentAddress"`
	APIKey       *string `json:"apiKey"`
	CreateTime   *int64  `json:"createTime"` // of the key, Unix seconds
	Stake        string  `json:"agentPledgeAmount"`
	Quota        uint64  `json:"quota"` // what the delegation address can spend now; placing an order takes about 30000
	Type         int     `json:"type"`
	MaxCount     int     `json:"maxCount"` // private calls in a cycle
	ExpireTime   *int64  `json:"expireTime"`
}

// info answers for any account: its delegation address follows from the daemon's wallet and needs
// no key to exist.
func (n *network) info(ctx context.Context, p params) (any, error) {
	owner, agent, err := n.accountOf(ctx, p)
	if err != nil {
		return nil, err
	}
	quota, err := n.Node.Quota(ctx, agent)
	if err != nil {
		return nil, nodeError(err)
	}
	out := agentInfo{AgentAddress: agent.String(), Stake: quota.Stake.Dec(), Quota: quota.Current, MaxCount: n.calls.Load().Limit}
	key, err := n.Keys.OfOwner(ctx, n.Name, owner)
	switch {
	case errors.Is(err, apikey.ErrUnknown):
		return out, nil
	case err != nil:
		return nil, err
	}
	created := key.Created.Unix()
	out.APIKey, out.CreateTime, out.AgentAddress = &key.Key, &created, key.Agent.String()
	if key.Limit > 0 {
		out.MaxCount = key.Limit
	}
	return out, nil
}

// agentPackage describes the limits of a key. There is one package, free of charge; operators raise
// the limits of single keys.
type agentPackage struct {
	Type     int    `json:"type"`
	MaxCount int    `json:"maxCount"` // private calls in a cycle
	Cycle    int64  `json:"cycle"`    // seconds
	Amount   string `json:"amount"`   // price
}

func (n *network) packages(context.Context, params) (any, error) {
	calls := n.calls.Load()
	return []agentPackage{{MaxCount: calls.Limit, Cycle: int64(calls.Length / time.Second), Amount: "0"}}, nil
}

// grants lists the pairs that an account lets its delegation address trade, as the exchange chain
// has them.
func (n *network) grants(ctx context.Context, p params) (any, error) {
	owner, agent, err := n.accountOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return n.Index.Grants(ctx, owner, agent)
}

// issuedKey is a new key. The secret is in no other answer.
type issuedKey struct {
	Address      string `json:"address"`
	AgentAddress string `json:"agentAddress"`
	APIKey       string `json:"apiKey"`
	APISecret    string `json:"apiSecret"`
	CreateTime   int64  `json:"createTime"` // Unix seconds
}

// apply issues a key to who proves to hold the account's key, by its signature of "<delegation
// address>_<time>".
func (n *network) apply(ctx context.Context, p params) (any, error) {
	owner, agent, err := n.checkProof(ctx, p, "")
	if err != nil {
		return nil, err
	}
	key, secret, err := n.Keys.Issue(ctx, n.Name, owner, agent)
	if errors.Is(err, apikey.ErrExists) {
		return nil, reject(codeFailed, "The account has an API key already: remove it first")
	}
	if err != nil {
		return nil, err
	}
	n.Log.WithField("owner", owner).Info("API key issued")
	return issuedKey{owner.String(), agent.String(), key.Key, secret, key.Created.Unix()}, nil
}

// remove ends the account's key, proved by a signature of "remove_<delegation address>_<time>".
func (n *network) remove(ctx context.Context, p params) (any, error) {
	owner, _, err := n.checkProof(ctx, p, removalPrefix)
	if err != nil {
		return nil, err
	}
	key, err := n.Keys.OfOwner(ctx, n.Name, owner)
	if err == nil {
		err = n.Keys.Revoke(ctx, key.Key)
	}
	if errors.Is(err, apikey.ErrUnknown) {
		return nil, reject(codeFailed, "The account has no API key")
	}
	if err != nil {
		return nil, err
	}
	n.Log.WithField("owner", owner).Info("API key removed")
	return nil, nil
}

// accountOf reads which account is meant, and derives its delegation address.
func (n *network) accountOf(ctx context.Context, p params) (owner, agent core.Address, err error) {
	if owner, err = p.address(); err == nil {
		agent, err = n.Agents.Agent(ctx, owner)
	}
	return owner, agent, err
}

// checkProof checks a wallet's proof and uses it up.
func (n *network) checkProof(ctx context.Context, p params, prefix string) (owner, agent core.Address, err error) {
	if owner, agent, err = n.accountOf(ctx, p); err != nil {
		return owner, agent, err
	}
	if p.get("agentAddress") != agent.String() {
		return owner, agent, reject(codeParameter, "Invalid agentAddress: the account's is %s", agent)
	}
	at, err := p.number("timestamp", 0, 1, 1<<53)
	if err != nil || !isProofInTime(at, n.Now()) {
		return owner, agent, reject(codeParameter, textTimestamp)
	}
	text := prefix + agent.String() + "_" + p.get("timestamp")
	public, okKey := readBytes(p.get("pubKey"), core.PublicKeySize)
	signature, okSignature := readBytes(p.get(apikey.SignatureName), core.SignatureSize)
	if !okKey || core.UserAddress(core.PublicKey(public)) != owner {
		return owner, agent, reject(codeParameter, "Invalid pubKey: not the account's")
	}
	if !okSignature || !core.Verify(public, []byte(text), signature) {
		return owner, agent, reject(codeParameter, textSignature)
	}
	err = n.Keys.UseOnce(ctx, n.Name+"|"+owner.String()+"|"+text, proofAge+2*proofAhead)
	if errors.Is(err, apikey.ErrRepeated) {
		return owner, agent, reject(codeParameter, "The signature was used already")
	}
	return owner, agent, err
}

// isProofInTime takes Unix seconds, or milliseconds from a wallet whose clock counts these.
func isProofInTime(at int64, now time.Time) bool {
	t := time.Unix(at, 0)
	if at > 1e11 {
		t = time.UnixMilli(at)
	}
	age := now.Sub(t)
	return age <= proofAge && age >= -proofAhead
}

// readBytes reads hexadecimal or base64: wallets differ.
func readBytes(text string, size int) ([]byte, bool) {
	b, err := hex.DecodeString(text)
	if err != nil {
		b, err = base64.StdEncoding.DecodeString(text)
	}
	return b, err == nil && len(b) == size
}
