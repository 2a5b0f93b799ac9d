package rpc

import (
	"encoding/base64"
	"math/big"
	"strconv"
	"strings"

	"gatewayd/vite/core"
)

// rebuild converts a recorded ledger_sendRawTransaction request for our chain: same fields, our
// place in the account's chain, our hash and signature. A fault of the recorded block is reproduced
// in the new one: its place (misplaced), its hash, its signature, its key, the form of a member.
func (r *replay) rebuild(recorded map[string]any, label string) map[string]any {
	old := lenient(recorded, r.names.translate(recorded).(map[string]any))
	block := *old.block
	account := block.Address
	if misplaced[label] {
		block.PreviousHash, _ = core.ParseHash(r.names.text(old.previous))
	} else {
		block.Height, block.PreviousHash = r.next(account)
	}
	if block.BlockType == core.SendCreate && label != "create a contract with a wrong toAddress" {
		block.ToAddress = core.ContractAddress(account, block.Height, block.PreviousHash)
	}
	signer := r.signer(old)
	block.SignWith(signer)
	if !old.hashGood {
		block.Hash[0] ^= 1
	}
	if !old.signatureGood {
		block.Signature[0] ^= 1
	}
	return old.formatLike(&block)
}

// misplaced are the labels whose fault is the block's place in its chain.
var misplaced = map[string]bool{
	"the same block again": true, "previous hash wrong": true, "height too high": true,
	"receive at height 2 of an unused account": true,
}

// oldBlock is a recorded block, read as far as it can be read.
type oldBlock struct {
	raw                     map[string]any // with our names
	block                   *core.AccountBlock
	previous                string // recorded
	hashGood, signatureGood bool
}

// lenient reads what it can: the form of a member may be the very fault that was recorded.
func lenient(recorded, translated map[string]any) *oldBlock {
	was := lenientBlock(recorded)
	return &oldBlock{
		raw: translated, block: lenientBlock(translated), previous: first(recorded, "previousHash", "prevHash"),
		hashGood:      was.Hash == was.ComputeHash(),
		signatureGood: core.Verify(was.PublicKey, was.Hash[:], was.Signature),
	}
}

// lenientBlock reads a block's members, zero values for what is not to be read.
func lenientBlock(m map[string]any) *core.AccountBlock {
	b := &core.AccountBlock{BlockType: core.BlockType(number(m["blockType"])), Height: number(m["height"])}
	b.Address = address(first(m, "address", "accountAddress"))
	b.PreviousHash, _ = core.ParseHash(first(m, "previousHash", "prevHash"))
	b.ToAddress, b.TokenID = address(first(m, "toAddress")), tokenID(first(m, "tokenId"))
	b.SendBlockHash, _ = core.ParseHash(first(m, "sendBlockHash", "fromBlockHash"))
	b.Amount.SetFromBig(absolute(m["amount"]))
	b.Fee.SetFromBig(absolute(m["fee"]))
	b.Data, _ = base64.StdEncoding.DecodeString(first(m, "data"))
	if nonce, _ := base64.StdEncoding.DecodeString(first(m, "nonce")); len(nonce) > 0 {
		b.Nonce = nonce
	}
	b.Hash, _ = core.ParseHash(strings.ToLower(first(m, "hash")))
	b.PublicKey, _ = base64.StdEncoding.DecodeString(first(m, "publicKey"))
	b.Signature, _ = base64.StdEncoding.DecodeString(first(m, "signature"))
	if log, err := core.ParseHash(first(m, "vmLogHash")); err == nil {
		b.VMLogHash = &log
	}
	if b.BlockType.IsReceive() || b.BlockType == 0 || b.BlockType == 9 {
		b.Fee.Clear()
	}
	return b
}

// formatLike puts the new block's members in the form of the old one's.
func (o *oldBlock) formatLike(b *core.AccountBlock) map[string]any {
	out := make(map[string]any, len(o.raw))
	for name, member := range o.raw {
		text, isText := member.(string)
		if !isText || text == "" {
			out[name] = member
			continue
		}
		switch name {
		case "height":
			out[name] = strconv.FormatUint(b.Height, 10)
		case "hash":
			out[name] = likeCase(text, b.Hash.String())
		case "previousHash", "prevHash":
			out[name] = b.PreviousHash.String()
		case "signature":
			out[name] = likeBase64(text, b.Signature)
		case "toAddress":
			out[name] = likeCase(text, b.ToAddress.String())
		default:
			out[name] = member
		}
	}
	return out
}

func likeCase(old, text string) string {
	switch {
	case strings.Trim(old, "0") == "":
		return old
	case strings.HasPrefix(old, "0x"):
		return "0x" + text
	case strings.ContainsAny(old, "ABCDEF") && strings.HasPrefix(old, "vite_"):
		return "vite_" + strings.ToUpper(text[len("vite_"):])
	case strings.ContainsAny(old, "ABCDEF"):
		return strings.ToUpper(text)
	}
	return text
}

// likeBase64 keeps a URL-safe text as recorded: the node must refuse it before it decodes the
// bytes.
func likeBase64(old string, signature []byte) string {
	if strings.ContainsAny(old, "-_") {
		return old
	}
	return base64.StdEncoding.EncodeToString(signature)
}

// signer is the key that the recorded block names; the account's own where it names none that we
// have.
func (r *replay) signer(o *oldBlock) core.PrivateKey {
	for _, k := range []core.PrivateKey{r.alice, r.bob, r.carol} {
		if public := k.Public(); string(public[:]) == string(o.block.PublicKey) {
			return k
		}
	}
	for _, k := range []core.PrivateKey{r.alice, r.bob, r.carol} {
		if k.Address() == o.block.Address {
			return k
		}
	}
	return r.alice
}

func first(m map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := m[name].(string); ok {
			return s
		}
	}
	return ""
}

func number(v any) uint64 {
	n, _ := strconv.ParseUint(strings.Trim(shown(v), `"`), 10, 64)
	return n
}

func absolute(v any) *big.Int {
	s, _ := v.(string)
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return new(big.Int)
	}
	return n.Abs(n)
}

func address(s string) core.Address { a, _ := core.ParseAddress(s); return a }

func tokenID(s string) core.TokenID { id, _ := core.ParseTokenID(s); return id }
