package node

import (
	"context"
	"encoding/base64"
	"math/big"
	"slices"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
)

// refusal is a block that is not taken.
type refusal struct {
	name   string
	author func(l *ledger) user
	// make builds the block; the test signs it unless it has a signature already.
	make func(l *ledger, u user) *core.AccountBlock
	want *Error
}

// formRefusals are about the block alone.
func formRefusals() []refusal {
	return []refusal{
		{"nil", rich, func(l *ledger, u user) *core.AccountBlock { return nil }, ErrEmptyBlock},
		{"no signature", rich, func(l *ledger, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.Signature = []byte{}
			return b
		}, ErrUnsigned},
		{"nonce without difficulty", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce = make([]byte, 8)
			return b
		}, ErrNoDifficulty},
		{"unknown token, wrong hash", rich, func(l *ledger, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.TokenID = core.TokenID{1}
			return b
		}, ErrUnknownToken},
		{"hash of another amount", rich, func(l *ledger, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.Amount = *uint256.NewInt(2)
			return b
		}, ErrHash},
		{"signature of another block", rich, func(l *ledger, u user) *core.AccountBlock {
			other := signed(u, l.transfer(u, l.poor.addr, 2))
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.Signature = other.Signature
			return b
		}, ErrSignature},
		{"public key of 31 bytes", rich, func(l *ledger, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.PublicKey = b.PublicKey[:31]
			return b
		}, ErrSignature},
		{"key of another account", rich, func(l *ledger, u user) *core.AccountBlock {
			return signed(l.poor, l.transfer(u, l.poor.addr, 1))
		}, ErrProducer},
		{"block of a contract", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.transfer(user{u.key, core.AssetContract}, l.poor.addr, 1)
		}, ErrProducer},
		{"send as first block", poor, func(l *ledger, u user) *core.AccountBlock {
			return l.transfer(u, l.rich.addr, 1)
		}, ErrFirstIsSend},
		{"zero token with amount", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.TokenID = core.TokenID{}
			return b
		}, ErrFields},
		{"send block hash on a send", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.SendBlockHash = core.Hash{0xab}
			return b
		}, ErrFields},
		{"log hash by a user", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.VMLogHash = &core.Hash{0xab}
			return b
		}, ErrFields},
	}
}

// receiveRefusals are about the fields and the send of a receive.
func receiveRefusals() []refusal {
	return []refusal{
		{"receive with data", staked, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Data = []byte{1}
			return b
		}, ErrFields},
		{"receive with an amount", staked, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Amount = *uint256.NewInt(1)
			return b
		}, ErrFields},
		{"receive with a token", staked, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.TokenID = core.VITE
			return b
		}, ErrFields},
		{"receive with an address", staked, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.ToAddress = u.addr
			return b
		}, ErrFields},
		{"receive with a fee", staked, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Fee = *uint256.NewInt(1)
			return b
		}, ErrFields},
		{"receive of an unknown send", staked, func(l *ledger, u user) *core.AccountBlock {
			return l.receive(u, core.Hash{0xab})
		}, ErrSendMissing},
		{"receive of a zero hash", staked, func(l *ledger, u user) *core.AccountBlock {
			return l.receive(u, core.Hash{})
		}, ErrSendMissing},
		{"receive of a receive", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.receive(u, l.head(u.addr).Hash)
		}, ErrProducer},
		{"receive by the wrong account", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.receive(u, l.incoming(l.staked))
		}, ErrProducer},
	}
}

// placeRefusals are about work, position and type.
func placeRefusals() []refusal {
	return []refusal{
		{"nonce of 7 bytes", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce, b.Difficulty = make([]byte, 7), big.NewInt(67108863)
			return b
		}, ErrPoWForm},
		{"empty nonce", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce, b.Difficulty = []byte{}, new(big.Int)
			return b
		}, ErrPoWForm},
		{"wrong nonce", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce, b.Difficulty = []byte{1, 2, 3, 4, 5, 6, 7, 8}, new(big.Int).SetUint64(1<<63)
			return b
		}, ErrNonce},
		{"wrong nonce and previous hash", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.PreviousHash = core.Hash{0xab}
			b.Nonce, b.Difficulty = []byte{1, 2, 3, 4, 5, 6, 7, 8}, new(big.Int).SetUint64(1<<63)
			return b
		}, ErrNonce},
		{"wrong previous hash", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.PreviousHash = core.Hash{0xab}
			return b
		}, ErrPrevious},
		{"height with a gap", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Height = 99
			return b
		}, ErrPrevious},
		{"receive at height 2 of an unused account", staked, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Height = 2
			return b
		}, ErrPrevious},
		{"receive twice", staked, func(l *ledger, u user) *core.AccountBlock {
			h := l.incoming(u)
			l.do(u, l.receive(u, h))
			return l.receive(u, h)
		}, ErrReceived},
		{"type 0", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, core.Hash{0xab})
			b.BlockType = 0
			return b
		}, ErrBlockType},
		{"type 9", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, core.Hash{0xab})
			b.BlockType = 9
			return b
		}, ErrBlockType},
		{"type 3", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.BlockType = core.SendReissue
			return b
		}, ErrContractOnly},
		{"type 6", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.BlockType = core.SendRefund
			return b
		}, ErrContractOnly},
		{"type 5 without quota", poor, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.BlockType = core.ReceiveError
			return b
		}, ErrQuota},
		{"type 7 with quota", staked, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.BlockType = core.GenesisReceive
			return b
		}, ErrInconsistent},
	}
}

// costRefusals are about quota, balance and fee.
func costRefusals() []refusal {
	return []refusal{
		{"receive without quota", poor, func(l *ledger, u user) *core.AccountBlock {
			return l.receive(u, l.incoming(u))
		}, ErrQuota},
		{"work too easy", poor, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			easyWork(b, 1000)
			return b
		}, ErrQuota},
		{"difficulty without nonce", poor, func(l *ledger, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Difficulty = big.NewInt(67108863)
			return b
		}, ErrQuota},
		{"over the block limit", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Data = make([]byte, 34965)
			return b
		}, ErrQuota},
		{"more than the balance", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Amount = *vite(10_000_001)
			return b
		}, ErrBalance},
		{"no balance left for the fee", rich, func(l *ledger, u user) *core.AccountBlock {
			l.do(u, func() *core.AccountBlock { b := l.transfer(u, l.poor.addr, 0); b.Amount = *vite(9_999_500); return b }())
			return l.call(u, core.AssetContract, core.IssueToken, issueArgs("GTT")...)
		}, ErrBalance},
		{"fee on a transfer", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Fee = *uint256.NewInt(5)
			return b
		}, ErrInconsistent},
	}
}

// callRefusals are about calls of contracts.
func callRefusals() []refusal {
	return []refusal{
		{"unknown contract", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.transfer(u, core.ContractAddress(u.addr, 5, core.Hash{}), 1)
		}, ErrNoContract},
		{"unknown method", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.transfer(u, core.AssetContract, 0)
			b.Data = []byte{1, 2, 3, 4, 5}
			return b
		}, ErrNoMethod},
		{"contract without data", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.transfer(u, core.AssetContract, 0)
		}, ErrNoMethod},
		{"call data with trailing bytes", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.ReIssue, core.VITE, *uint256.NewInt(1), u.addr)
			b.Data = append(b.Data, make([]byte, 30)...)
			return b
		}, ErrInconsistent},
		{"call data too short", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.ReIssue, core.VITE, *uint256.NewInt(1), u.addr)
			b.Data = b.Data[:40]
			return b
		}, ErrMethodParam},
		{"issue without fee", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.IssueToken, issueArgs("GTT")...)
			b.Fee = uint256.Int{}
			return b
		}, ErrInconsistent},
		{"issue with amount", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.IssueToken, issueArgs("GTT")...)
			b.Amount = *uint256.NewInt(1)
			return b
		}, ErrMethodParam},
		{"burn of 0", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.call(u, core.AssetContract, core.Burn)
		}, ErrMethodParam},
		{"re-issue of 0", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.call(u, core.AssetContract, core.ReIssue, core.VITE, uint256.Int{}, u.addr)
		}, ErrMethodParam},
		{"ownership to itself", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.call(u, core.AssetContract, core.TransferOwnership, core.VITE, u.addr)
		}, ErrMethodParam},
		{"stake below the minimum", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.call(u, core.QuotaContract, core.StakeForQuota, u.addr)
			b.Amount = *new(uint256.Int).SubUint64(vite(134), 1)
			return b
		}, ErrMethodParam},
		{"cancelling below the minimum", rich, func(l *ledger, u user) *core.AccountBlock {
			return l.call(u, core.QuotaContract, core.CancelStake, u.addr, *vite(1))
		}, ErrMethodParam},
	}
}

// creationRefusals are about new contracts.
func creationRefusals() []refusal {
	return []refusal{
		{"creation with a wrong address", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.creation(u)
			b.ToAddress = u.addr
			return b
		}, ErrInconsistent},
		{"creation without head", rich, creationWith(func(data []byte) []byte { return data[:13] }), ErrMethodParam},
		{"creation in another group", rich, creationWith(poke(9, 1)), ErrMethodParam},
		{"creation of another kind", rich, creationWith(poke(10, 2)), ErrMethodParam},
		{"creation with latency 76", rich, creationWith(poke(11, 76)), ErrLatency},
		{"creation with degree over latency", rich, creationWith(poke(12, 1)), ErrRandomDegree},
		{"creation with multiplier 9", rich, creationWith(poke(13, 9)), ErrQuotaMultiplier},
		{"creation without fee", rich, func(l *ledger, u user) *core.AccountBlock {
			b := l.creation(u)
			b.Fee = uint256.Int{}
			return b
		}, ErrInconsistent},
	}
}

// TestRefusals walks the ladder of docs/exchange-chain-wire.md 5.6; most cases stand in the recordings of a live node (chain/vite/rpc/testdata/ledger.jsonl)
// with this code and message.
func TestRefusals(t *testing.T) {
	tests := slices.Concat(formRefusals(), receiveRefusals(), placeRefusals(), costRefusals(), callRefusals(), creationRefusals())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := setup(t)
			u := tt.author(l)
			b := tt.make(l, u)
			if b != nil && b.Signature == nil {
				b.SignWith(u.key)
			}
			before := l.digest()
			require.Equal(t, error(tt.want), l.Submit(context.Background(), b))
			require.Equal(t, before, l.digest(), "a refusal changes nothing")
		})
	}
}

func rich(l *ledger) user   { return l.rich }
func staked(l *ledger) user { return l.staked }
func poor(l *ledger) user   { return l.poor }

func signed(u user, b *core.AccountBlock) *core.AccountBlock {
	b.SignWith(u.key)
	return b
}

// incoming is a send to u that waits.
func (l *ledger) incoming(u user) core.Hash { return l.do(l.rich, l.transfer(l.rich, u.addr, 1)) }

func issueArgs(symbol string) []any {
	return []any{true, "Gateway Test Token", symbol, *uint256.NewInt(1000), uint8(6), *uint256.NewInt(2000), false}
}

func (l *ledger) creation(u user) *core.AccountBlock {
	data, err := base64.StdEncoding.DecodeString("AAAAAAAAAAAAAgEAAApgAGAAVQ==") // the recorded one
	require.NoError(l.t, err)
	b := l.next(u)
	b.BlockType, b.TokenID, b.Data = core.SendCreate, core.VITE, data
	b.ToAddress = core.ContractAddress(u.addr, b.Height, b.PreviousHash)
	b.Fee = *vite(10)
	return b
}

func creationWith(change func([]byte) []byte) func(*ledger, user) *core.AccountBlock {
	return func(l *ledger, u user) *core.AccountBlock {
		b := l.creation(u)
		b.Data = change(b.Data)
		return b
	}
}

func poke(at int, value byte) func([]byte) []byte {
	return func(data []byte) []byte {
		data[at] = value
		return data
	}
}

func TestResubmissionIsRefused(t *testing.T) {
	l := setup(t)
	b := signed(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	require.NoError(t, l.Submit(context.Background(), b))
	require.Equal(t, error(ErrPrevious), l.Submit(context.Background(), b))
	l.snapshot()
	require.Equal(t, error(ErrPrevious), l.Submit(context.Background(), b))
}

// TestOddButLawful are blocks that a live node took.
func TestOddButLawful(t *testing.T) {
	l := setup(t)
	zero := l.transfer(l.rich, l.staked.addr, 0)
	zero.TokenID = core.TokenID{}
	l.do(l.rich, zero)
	l.do(l.rich, l.transfer(l.rich, l.rich.addr, 1))
	lost := l.do(l.rich, l.transfer(l.rich, core.Address{}, 1))
	require.Nil(t, l.block(lost).Received)
	l.do(l.staked, l.receive(l.staked, zero.Hash))
	require.Nil(t, l.block(zero.Hash).TokenInfo)
	l.snapshot()
	l.snapshot()
	large := l.transfer(l.rich, l.staked.addr, 1)
	large.Data = make([]byte, 34964)
	l.do(l.rich, large)
	require.Equal(t, uint64(999992), l.block(large.Hash).TotalQuota)
}
