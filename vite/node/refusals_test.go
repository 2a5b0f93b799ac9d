package node

import (
	"context"
	"encoding/base64"
	"math/big"
	"slices"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// refusal is a block that is not taken.
type refusal struct {
	name   string
	author func(l *testChain) user
	// make builds the block; the test signs it unless it has a signature already.
	make func(l *testChain, u user) *core.AccountBlock
	want *ledger.Error
}

// formRefusals are about the block alone.
func formRefusals() []refusal {
	return []refusal{
		{"nil", rich, func(l *testChain, u user) *core.AccountBlock { return nil }, ledger.ErrEmptyBlock},
		{"no signature", rich, func(l *testChain, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.Signature = []byte{}
			return b
		}, ledger.ErrUnsigned},
		{"nonce without difficulty", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce = make([]byte, 8)
			return b
		}, ledger.ErrNoDifficulty},
		{"unknown token, wrong hash", rich, func(l *testChain, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.TokenID = core.TokenID{1}
			return b
		}, ledger.ErrUnknownToken},
		{"hash of another amount", rich, func(l *testChain, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.Amount = *uint256.NewInt(2)
			return b
		}, ledger.ErrHash},
		{"signature of another block", rich, func(l *testChain, u user) *core.AccountBlock {
			other := signed(u, l.transfer(u, l.poor.addr, 2))
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.Signature = other.Signature
			return b
		}, ledger.ErrSignature},
		{"public key of 31 bytes", rich, func(l *testChain, u user) *core.AccountBlock {
			b := signed(u, l.transfer(u, l.poor.addr, 1))
			b.PublicKey = b.PublicKey[:31]
			return b
		}, ledger.ErrSignature},
		{"key of another account", rich, func(l *testChain, u user) *core.AccountBlock {
			return signed(l.poor, l.transfer(u, l.poor.addr, 1))
		}, ledger.ErrProducer},
		{"block of a contract", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.transfer(user{u.key, core.AssetContract}, l.poor.addr, 1)
		}, ledger.ErrProducer},
		{"send as first block", poor, func(l *testChain, u user) *core.AccountBlock {
			return l.transfer(u, l.rich.addr, 1)
		}, ledger.ErrFirstIsSend},
		{"zero token with amount", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.TokenID = core.TokenID{}
			return b
		}, ledger.ErrFields},
		{"send block hash on a send", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.SendBlockHash = core.Hash{0xab}
			return b
		}, ledger.ErrFields},
		{"log hash by a user", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.VMLogHash = &core.Hash{0xab}
			return b
		}, ledger.ErrFields},
	}
}

// receiveRefusals are about the fields and the send of a receive.
func receiveRefusals() []refusal {
	return []refusal{
		{"receive with data", staked, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Data = []byte{1}
			return b
		}, ledger.ErrFields},
		{"receive with an amount", staked, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Amount = *uint256.NewInt(1)
			return b
		}, ledger.ErrFields},
		{"receive with a token", staked, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.TokenID = core.VITE
			return b
		}, ledger.ErrFields},
		{"receive with an address", staked, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.ToAddress = u.addr
			return b
		}, ledger.ErrFields},
		{"receive with a fee", staked, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Fee = *uint256.NewInt(1)
			return b
		}, ledger.ErrFields},
		{"receive of an unknown send", staked, func(l *testChain, u user) *core.AccountBlock {
			return l.receive(u, core.Hash{0xab})
		}, ledger.ErrSendMissing},
		{"receive of a zero hash", staked, func(l *testChain, u user) *core.AccountBlock {
			return l.receive(u, core.Hash{})
		}, ledger.ErrSendMissing},
		{"receive of a receive", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.receive(u, l.head(u.addr).Hash)
		}, ledger.ErrProducer},
		{"receive by the wrong account", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.receive(u, l.incoming(l.staked))
		}, ledger.ErrProducer},
	}
}

// placeRefusals are about work, position and type.
func placeRefusals() []refusal {
	return []refusal{
		{"nonce of 7 bytes", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce, b.Difficulty = make([]byte, 7), big.NewInt(67108863)
			return b
		}, ledger.ErrPoWForm},
		{"empty nonce", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce, b.Difficulty = []byte{}, new(big.Int)
			return b
		}, ledger.ErrPoWForm},
		{"wrong nonce", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Nonce, b.Difficulty = []byte{1, 2, 3, 4, 5, 6, 7, 8}, new(big.Int).SetUint64(1<<63)
			return b
		}, ledger.ErrNonce},
		{"wrong nonce and previous hash", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.PreviousHash = core.Hash{0xab}
			b.Nonce, b.Difficulty = []byte{1, 2, 3, 4, 5, 6, 7, 8}, new(big.Int).SetUint64(1<<63)
			return b
		}, ledger.ErrNonce},
		{"wrong previous hash", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.PreviousHash = core.Hash{0xab}
			return b
		}, ledger.ErrPrevious},
		{"height with a gap", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Height = 99
			return b
		}, ledger.ErrPrevious},
		{"receive at height 2 of an unused account", staked, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Height = 2
			return b
		}, ledger.ErrPrevious},
		{"receive twice", staked, func(l *testChain, u user) *core.AccountBlock {
			h := l.incoming(u)
			l.do(u, l.receive(u, h))
			return l.receive(u, h)
		}, ledger.ErrReceived},
		{"type 0", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, core.Hash{0xab})
			b.BlockType = 0
			return b
		}, ledger.ErrBlockType},
		{"type 9", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, core.Hash{0xab})
			b.BlockType = 9
			return b
		}, ledger.ErrBlockType},
		{"type 3", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.BlockType = core.SendReissue
			return b
		}, ledger.ErrContractOnly},
		{"type 6", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.BlockType = core.SendRefund
			return b
		}, ledger.ErrContractOnly},
		{"type 5 without quota", poor, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.BlockType = core.ReceiveError
			return b
		}, ledger.ErrQuota},
		{"type 7 with quota", staked, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.BlockType = core.GenesisReceive
			return b
		}, ledger.ErrInconsistent},
	}
}

// costRefusals are about quota, balance and fee.
func costRefusals() []refusal {
	return []refusal{
		{"receive without quota", poor, func(l *testChain, u user) *core.AccountBlock {
			return l.receive(u, l.incoming(u))
		}, ledger.ErrQuota},
		{"work too easy", poor, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			easyWork(b, 1000)
			return b
		}, ledger.ErrQuota},
		{"difficulty without nonce", poor, func(l *testChain, u user) *core.AccountBlock {
			b := l.receive(u, l.incoming(u))
			b.Difficulty = big.NewInt(67108863)
			return b
		}, ledger.ErrQuota},
		{"over the block limit", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Data = make([]byte, 34965)
			return b
		}, ledger.ErrQuota},
		{"more than the balance", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Amount = *vite(10_000_001)
			return b
		}, ledger.ErrBalance},
		{"no balance left for the fee", rich, func(l *testChain, u user) *core.AccountBlock {
			l.do(u, func() *core.AccountBlock {
				b := l.transfer(u, l.poor.addr, 0)
				b.Amount = *vite(9_999_500)
				return b
			}())
			return l.call(u, core.AssetContract, core.IssueToken, issueArgs("GTT")...)
		}, ledger.ErrBalance},
		{"fee on a transfer", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, l.poor.addr, 1)
			b.Fee = *uint256.NewInt(5)
			return b
		}, ledger.ErrInconsistent},
	}
}

// callRefusals are about calls of contracts.
func callRefusals() []refusal {
	return []refusal{
		{"unknown contract", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.transfer(u, core.ContractAddress(u.addr, 5, core.Hash{}), 1)
		}, ledger.ErrNoContract},
		{"unknown method", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.transfer(u, core.AssetContract, 0)
			b.Data = []byte{1, 2, 3, 4, 5}
			return b
		}, ledger.ErrNoMethod},
		{"contract without data", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.transfer(u, core.AssetContract, 0)
		}, ledger.ErrNoMethod},
		{"call data with trailing bytes", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.ReIssue, core.VITE, *uint256.NewInt(1), u.addr)
			b.Data = append(b.Data, make([]byte, 30)...)
			return b
		}, ledger.ErrInconsistent},
		{"call data with bytes in its padding", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.IssueToken, issueArgs("GTT")...)
			b.Data[len(b.Data)-1] = 1
			return b
		}, ledger.ErrInconsistent},
		{"call data too short", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.ReIssue, core.VITE, *uint256.NewInt(1), u.addr)
			b.Data = b.Data[:40]
			return b
		}, ledger.ErrMethodParam},
		{"issue without fee", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.IssueToken, issueArgs("GTT")...)
			b.Fee = uint256.Int{}
			return b
		}, ledger.ErrInconsistent},
		{"issue with amount", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.call(u, core.AssetContract, core.IssueToken, issueArgs("GTT")...)
			b.Amount = *uint256.NewInt(1)
			return b
		}, ledger.ErrMethodParam},
		{"burn of 0", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.call(u, core.AssetContract, core.Burn)
		}, ledger.ErrMethodParam},
		{"re-issue of 0", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.call(u, core.AssetContract, core.ReIssue, core.VITE, uint256.Int{}, u.addr)
		}, ledger.ErrMethodParam},
		{"ownership to itself", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.call(u, core.AssetContract, core.TransferOwnership, core.VITE, u.addr)
		}, ledger.ErrMethodParam},
		{"stake below the minimum", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.call(u, core.QuotaContract, core.StakeForQuota, u.addr)
			b.Amount = *new(uint256.Int).SubUint64(vite(134), 1)
			return b
		}, ledger.ErrMethodParam},
		{"cancelling below the minimum", rich, func(l *testChain, u user) *core.AccountBlock {
			return l.call(u, core.QuotaContract, core.CancelStake, u.addr, *vite(1))
		}, ledger.ErrMethodParam},
	}
}

// creationRefusals are about new contracts.
func creationRefusals() []refusal {
	return []refusal{
		{"creation with a wrong address", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.creation(u)
			b.ToAddress = u.addr
			return b
		}, ledger.ErrInconsistent},
		{"creation without head", rich, creationWith(func(data []byte) []byte { return data[:13] }), ledger.ErrMethodParam},
		{"creation in another group", rich, creationWith(woken(9, 1)), ledger.ErrMethodParam},
		{"creation of another kind", rich, creationWith(woken(10, 2)), ledger.ErrMethodParam},
		{"creation with latency 76", rich, creationWith(woken(11, 76)), ledger.ErrLatency},
		{"creation with degree over latency", rich, creationWith(woken(12, 1)), ledger.ErrRandomDegree},
		{"creation with multiplier 9", rich, creationWith(woken(13, 9)), ledger.ErrQuotaMultiplier},
		{"creation without fee", rich, func(l *testChain, u user) *core.AccountBlock {
			b := l.creation(u)
			b.Fee = uint256.Int{}
			return b
		}, ledger.ErrInconsistent},
	}
}

// TestRefusals follows the order of checks in docs/exchange-chain-rpc.md 5.6. Most cases are in
// the recordings of a live node (vite/rpc/testdata/ledger.jsonl) with this code and message.
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

func rich(l *testChain) user   { return l.rich }
func staked(l *testChain) user { return l.staked }
func poor(l *testChain) user   { return l.poor }

func signed(u user, b *core.AccountBlock) *core.AccountBlock {
	b.SignWith(u.key)
	return b
}

// incoming is a send to u that waits.
func (l *testChain) incoming(u user) core.Hash { return l.do(l.rich, l.transfer(l.rich, u.addr, 1)) }

func issueArgs(symbol string) []any {
	return []any{true, "Gateway Test Token", symbol, *uint256.NewInt(1000), uint8(6), *uint256.NewInt(2000), false}
}

func (l *testChain) creation(u user) *core.AccountBlock {
	data, err := base64.StdEncoding.DecodeString("AAAAAAAAAAAAAgEAAApgAGAAVQ==") // the recorded one
	require.NoError(l.t, err)
	b := l.next(u)
	b.BlockType, b.TokenID, b.Data = core.SendCreate, core.VITE, data
	b.ToAddress = core.ContractAddress(u.addr, b.Height, b.PreviousHash)
	b.Fee = *vite(10)
	return b
}

func creationWith(change func([]byte) []byte) func(*testChain, user) *core.AccountBlock {
	return func(l *testChain, u user) *core.AccountBlock {
		b := l.creation(u)
		b.Data = change(b.Data)
		return b
	}
}

func woken(at int, value byte) func([]byte) []byte {
	return func(data []byte) []byte {
		data[at] = value
		return data
	}
}

func TestResubmissionIsRefused(t *testing.T) {
	l := setup(t)
	b := signed(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	require.NoError(t, l.Submit(context.Background(), b))
	require.Equal(t, error(ledger.ErrPrevious), l.Submit(context.Background(), b))
	l.snapshot()
	require.Equal(t, error(ledger.ErrPrevious), l.Submit(context.Background(), b))
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
