package bitcoin

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/bitcoin/network"
)

func rulesOf(name string) rules {
	n := network.Named(name)
	return rules{n, paramsOf(n)}
}

// extended is a block of litecoind with an extension, which has a HogEx.
func extended(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/litecoin-regtest-block.hex")
	require.NoError(t, err)
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return raw
}

func genesis(t testing.TB, p *chaincfg.Params) []byte {
	t.Helper()
	var raw bytes.Buffer
	require.NoError(t, p.GenesisBlock.Serialize(&raw))
	return raw.Bytes()
}

// TestExtensionIsLeftOut reads a block with an extension, and refuses what is no such block.
func TestExtensionIsLeftOut(t *testing.T) {
	r, raw := rulesOf("litecoin-regtest"), extended(t)
	hash := chainhash.DoubleHashH(raw[:headerSize])
	b, err := r.prove(raw, 433, hash)
	require.NoError(t, err)
	last := b.txs[len(b.txs)-1].MsgTx()
	require.False(t, last.HasWitness())
	require.EqualValues(t, 2, last.Version)
	require.Zero(t, last.LockTime)

	parsed, err := r.parse(raw)
	require.NoError(t, err)
	at := bytes.LastIndex(raw, []byte{2, 0, 0, 0, 0, flagMWEB})
	require.Positive(t, at)
	for cut := at; cut < len(raw); cut++ { // in the HogEx no block, after it the extension is not looked at
		_, err := r.parse(raw[:cut])
		require.Equal(t, cut >= at+last.SerializeSize()+3, err == nil, cut)
	}
	_, err = rulesOf("bitcoin-regtest").parse(raw)
	require.ErrorContains(t, err, "flag byte is 08", "Bitcoin has no such transactions")

	var plain bytes.Buffer
	require.NoError(t, parsed.Serialize(&plain))
	_, err = r.parse(append(plain.Bytes(), 1))
	require.ErrorContains(t, err, "1 bytes follow its transactions")

	first := append(bytes.Clone(raw[:headerSize]), 2)
	first = append(append(first, raw[at:at+last.SerializeSize()+3]...), raw[at:]...)
	_, err = r.parse(first)
	require.ErrorContains(t, err, "transaction 0 of 2 is a HogEx")

	part := bytes.Clone(raw[:at+last.SerializeSize()+3])
	part[len(part)-lockTimeSize-1] = 1
	_, err = r.parse(part)
	require.ErrorContains(t, err, "a HogEx with a part of the extension")
}

// TestWork checks the first blocks of the main networks, and changed ones.
func TestWork(t *testing.T) {
	main := rulesOf("bitcoin")
	_, err := main.prove(genesis(t, &chaincfg.MainNetParams), 0, main.network.Genesis)
	require.NoError(t, err)
	easy := genesis(t, &chaincfg.RegressionNetParams)
	_, err = main.prove(easy, 0, *chaincfg.RegressionNetParams.GenesisHash)
	require.ErrorContains(t, err, "is none of bitcoin")
	_, err = rulesOf("bitcoin-regtest").prove(easy, 0, *chaincfg.RegressionNetParams.GenesisHash)
	require.NoError(t, err)
	_, err = rulesOf("bitcoin-regtest").prove(easy, 5, *chaincfg.RegressionNetParams.GenesisHash)
	require.ErrorContains(t, err, "height", "the coinbase names the height")
	h := chaincfg.MainNetParams.GenesisBlock.Header
	require.NoError(t, main.checkWork(&h))
	h.Nonce++
	require.ErrorContains(t, main.checkWork(&h), "there is no work in it")

	// The first block of Litecoin: its name is no proof of its work, the scrypt hash is.
	coins := rulesOf("litecoin")
	raw, err := hex.DecodeString("010000000000000000000000000000000000000000000000000000000000000000000000d9ced4ed1130f7b7faad9be25323ffafa33232a17c3edf6cfd97bee6bafbdd97b9aa8e4ef0ff0f1ecd513f7c")
	require.NoError(t, err)
	var first wire.BlockHeader
	require.NoError(t, first.Deserialize(bytes.NewReader(raw)))
	require.Equal(t, coins.network.Genesis, first.BlockHash())
	require.NoError(t, coins.checkWork(&first))
	first.Nonce++
	require.ErrorContains(t, coins.checkWork(&first), "there is no work in it")
	first.Nonce--
	name := first.BlockHash()
	require.Positive(t, blockchain.HashToBig(&name).Cmp(blockchain.CompactToBig(first.Bits)))
}

// runOf is a line of a number of headers with a time between them.
func runOf(r rules, count int, bits uint32, spacing time.Duration) *header {
	var top *header
	for i := range count {
		at := time.Unix(1_700_000_000, 0).Add(time.Duration(i) * spacing)
		top = &header{BlockHeader: wire.BlockHeader{Version: 4, Bits: bits, Timestamp: at}, height: uint64(i), work: new(big.Int), parent: top}
	}
	return top
}

// TestTargets: after each period the target follows the time that it took; Litecoin measures from
// the block before the period.
func TestTargets(t *testing.T) {
	for _, name := range []string{"bitcoin", "litecoin"} {
		r := rulesOf(name)
		period := int(r.BlocksPerRetarget())
		require.Equal(t, 2016, period)
		const bits = 0x1c00ffff
		spacing := r.params.TargetTimePerBlock
		next := func(count int, spacing time.Duration) uint32 {
			t.Helper()
			parent := runOf(r, count, bits, spacing)
			for _, candidate := range []time.Duration{spacing} {
				h := wire.BlockHeader{Version: 4, Timestamp: parent.BlockHeader.Timestamp.Add(candidate)}
				for _, bits := range []uint32{bits, 0x1b7fff80, 0x1c03fffc, 0x1b3fffc0, 0x1c00ffde, 0x1c00ffff} {
					if h.Bits = bits; r.checkNext(&h, parent) == nil {
						return bits
					}
				}
			}
			return 0
		}
		require.EqualValues(t, bits, next(2*period-5, spacing/2), "within a period")
		require.EqualValues(t, 0x1b3fffc0, next(2*period, spacing/10), "at most four times as hard")
		require.EqualValues(t, 0x1c03fffc, next(2*period, spacing*10), "at most four times as easy")
		if name == "litecoin" {
			require.EqualValues(t, 0x1c00ffff, next(2*period, spacing), "of 2016 spans")
			require.EqualValues(t, 0x1b7fff80, next(2*period, spacing/2))
		} else {
			require.NotEqualValues(t, 0x1c00ffff, next(2*period, spacing), "2015 spans are less than the period's time")
		}
		h := wire.BlockHeader{Version: 4, Bits: 0x1c03fffc, Timestamp: time.Unix(1_900_000_000, 0)}
		require.ErrorContains(t, r.checkNext(&h, runOf(r, period+100, bits, spacing)), "is not the expected value", "no minimum on a main network")
	}
}

// TestPastTargets: the first change of Bitcoin's target, in block 32256, and Litecoin's in block
// 280224.
func TestPastTargets(t *testing.T) {
	for _, past := range []struct {
		network     string
		first       int // place of the first block that counts, in a run of two periods
		began, last int64
		bits, next  uint32
	}{
		{"bitcoin", 2016, 1261130161, 1262152739, 0x1d00ffff, 0x1d00d86a},
		{"litecoin", 2015, 1358118740, 1358378777, 0x1c0ac141, 0x1c093f8d},
	} {
		r := rulesOf(past.network)
		parent := runOf(r, 2*2016, past.bits, time.Second)
		span := past.last - past.began
		for h := parent; h != nil; h = h.parent {
			h.BlockHeader.Timestamp = time.Unix(past.began+span*(int64(h.height)-int64(past.first))/int64(4031-past.first), 0)
		}
		h := wire.BlockHeader{Version: 4, Bits: past.next, Timestamp: time.Unix(past.last+60, 0)}
		require.NoError(t, r.checkNext(&h, parent), past.network)
		h.Bits++
		require.ErrorContains(t, r.checkNext(&h, parent), "is not the expected value", past.network)
	}
}

// TestLowest: what the rules look at is at or above it.
func TestLowest(t *testing.T) {
	r := rulesOf("bitcoin")
	require.EqualValues(t, 0, r.lowest(0))
	require.EqualValues(t, 0, r.lowest(2015))
	require.EqualValues(t, 2005, r.lowest(2016))
	require.EqualValues(t, 2015, r.lowest(3000))
	require.EqualValues(t, 1989, rulesOf("bitcoin-regtest").lowest(2000))
}

// TestPruning: the kept headers stay bounded, and rules find what they look at.
func TestPruning(t *testing.T) {
	r := rulesOf("bitcoin-regtest")
	l := newLine(r)
	h := chaincfg.RegressionNetParams.GenesisBlock.Header
	l.begin([]wire.BlockHeader{h}, 0)
	top := l.base
	for top.height < 3*keepHeaders {
		h := wire.BlockHeader{Version: 4, PrevBlock: top.hash, Bits: r.params.PowLimitBits, Timestamp: top.BlockHeader.Timestamp.Add(time.Second)}
		for r.checkWork(&h) != nil {
			h.Nonce++
		}
		next, err := l.add(top, h)
		require.NoError(t, err)
		require.Positive(t, next.work.Cmp(top.work))
		top = next
		require.Equal(t, top, l.choose([]answer[*header]{{Value: top}}))
	}
	require.LessOrEqual(t, len(l.known), 2*keepHeaders+1)
	require.Equal(t, l.cut, l.base.height)
	require.Nil(t, l.base.parent)
	list, lowest := l.hashes(top.height-5, top.height+5)
	require.Len(t, list, 6)
	require.Equal(t, top.hash, list[5])
	require.Equal(t, top.height-5, lowest)
	list, lowest = l.hashes(l.cut-3, l.cut+1)
	require.Len(t, list, 2)
	require.Equal(t, l.cut, lowest)
	list, _ = l.hashes(top.height+1, top.height+5)
	require.Nil(t, list)
	list, lowest = l.hashes(1, 3)
	require.Empty(t, list)
	require.EqualValues(t, 4, lowest)
}

// FuzzProve: no bytes make it panic, and what it takes is the block of the hash.
func FuzzProve(f *testing.F) {
	f.Add(extended(f), true)
	f.Add(genesis(f, &chaincfg.RegressionNetParams), false)
	f.Add([]byte{}, false)
	f.Add(append(make([]byte, headerSize), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), true)
	f.Fuzz(func(t *testing.T, raw []byte, coins bool) {
		name := "bitcoin-regtest"
		if coins {
			name = "litecoin-regtest"
		}
		r := rulesOf(name)
		parsed, err := r.parse(raw)
		if err != nil {
			return
		}
		hash := parsed.Header.BlockHash()
		b, err := r.prove(raw, 1, hash)
		if err != nil {
			return
		}
		require.Equal(t, hash, chainhash.DoubleHashH(raw[:headerSize]))
		require.Equal(t, parsed.Header.MerkleRoot, blockchain.CalcMerkleRoot(btcutil.NewBlock(parsed).Transactions(), false))
		require.Len(t, b.txs, len(parsed.Transactions))
	})
}
