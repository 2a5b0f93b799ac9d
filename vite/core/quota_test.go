package core

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

type quotaVectors struct {
	Costs            map[string]uint64
	TransferExamples []struct {
		DataBytes int
		Quota     string
	}
	StakeAndDifficultyTable []struct {
		QuotaPerSnapshotBlock, UTPer75Blocks, StakeVite, PowDifficulty string
	}
	NodeAnswersRequiredStake map[string]json.RawMessage
}

func number(t testing.TB, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	require.NoError(t, err)
	return n
}

func TestStakeAndDifficultyVectors(t *testing.T) {
	var v quotaVectors
	loadVectors(t, "quota.json", &v)
	require.NotEmpty(t, v.StakeAndDifficultyTable)
	for _, c := range v.StakeAndDifficultyTable {
		quota := number(t, c.QuotaPerSnapshotBlock)
		require.Equal(t, number(t, c.UTPer75Blocks)*QuotaPerUT, quota*QuotaWindow)
		stake, err := RequiredStake(quota)
		require.NoError(t, err)
		require.Equal(t, c.StakeVite+strings.Repeat("0", 18), stake.Dec())
		require.Equal(t, quota, QuotaForStake(stake))
		stake.SubUint64(&stake, 1)
		require.Equal(t, quota-quotaSection, QuotaForStake(stake))

		difficulty, err := RequiredDifficulty(quota)
		require.NoError(t, err)
		require.Equal(t, c.PowDifficulty, difficulty.String())
		require.Equal(t, quota, QuotaForDifficulty(difficulty))
		require.Equal(t, quota-quotaSection, QuotaForDifficulty(difficulty.Sub(difficulty, big.NewInt(1))))
	}
}

func TestNodeAnswers(t *testing.T) {
	var v quotaVectors
	loadVectors(t, "quota.json", &v)
	require.NotEmpty(t, v.NodeAnswersRequiredStake)
	for quota, raw := range v.NodeAnswersRequiredStake {
		stake, err := RequiredStake(number(t, quota))
		var answer string
		if json.Unmarshal(raw, &answer) != nil {
			require.ErrorIs(t, err, ErrQuotaRange, quota)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, answer, stake.Dec(), quota)
	}
	// ledger_getPoWDifficulty of a live node.
	for quota, want := range map[uint64]string{
		0: "0", 21000: "67108863", 22260: "71584237", 301000: "992486388", 999880: "15530391682",
	} {
		difficulty, err := RequiredDifficulty(quota)
		require.NoError(t, err)
		require.Equal(t, want, difficulty.String())
	}
	_, err := RequiredDifficulty(999881)
	require.ErrorIs(t, err, ErrQuotaRange)
}

func TestQuotaOfExtremes(t *testing.T) {
	require.Zero(t, QuotaForStake(uint256.Int{}))
	require.EqualValues(t, 999880, QuotaForStake(*new(uint256.Int).SetAllOne()))
	require.Zero(t, QuotaForDifficulty(big.NewInt(-1)))
	require.EqualValues(t, 999880, QuotaForDifficulty(new(big.Int).Lsh(big.NewInt(1), 70)))
	require.EqualValues(t, 147000/QuotaWindow, QuotaForStake(wholeVITE(1000)), "a live node's maxQuota")
}

func TestRequiredQuotaVectors(t *testing.T) {
	var v quotaVectors
	loadVectors(t, "quota.json", &v)
	for _, c := range v.TransferExamples {
		got, err := RequiredQuota(SendCall, Address{}, make([]byte, c.DataBytes), 0)
		if number(t, c.Quota) > MaxBlockQuota {
			require.ErrorIs(t, err, ErrQuotaRange)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, number(t, c.Quota), got)
	}
	for _, m := range append(builtinMethods[AssetContract], builtinMethods[QuotaContract]...) {
		cost, published := v.Costs[m.Name()]
		if !published {
			continue
		}
		to := AssetContract
		if _, ok := BuiltinMethod(to, m.selector[:]); !ok {
			to = QuotaContract
		}
		got, err := RequiredQuota(SendCall, to, append(m.selector[:], make([]byte, 500)...), 0)
		require.NoError(t, err)
		require.Equal(t, cost, got, m.Name())
	}
}

func TestRequiredQuota(t *testing.T) {
	contract := Address{1, 20: kindContract}
	for _, c := range []struct {
		typ        BlockType
		to         Address
		bytes      int
		multiplier uint8
		want       uint64
	}{
		{Receive, Address{}, 0, 0, 21000},
		{SendCreate, Address{}, 19, 0, 31532},
		{SendCall, DexFundContract, 100, 0, 23800},
		{SendCall, contract, 0, 10, 21000},
		{SendCall, contract, 10, 15, 31920},
		{SendCall, contract, 0, 100, 210000},
		{SendCall, Address{}, 34964, 0, 999992},
	} {
		got, err := RequiredQuota(c.typ, c.to, make([]byte, c.bytes), c.multiplier)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := RequiredQuota(SendCall, Address{}, make([]byte, 34965), 0)
	require.ErrorIs(t, err, ErrQuotaRange)
	_, err = RequiredQuota(SendCall, contract, nil, 9)
	require.ErrorIs(t, err, ErrQuotaMultiplier)
	_, err = RequiredQuota(SendCall, AssetContract, []byte{1, 2, 3, 4}, 0)
	require.ErrorIs(t, err, ErrMethod)
	got, err := RequiredQuota(SendCall, AssetContract, GetTokenInformation.selector[:], 0)
	require.NoError(t, err)
	require.EqualValues(t, 21112, got)
}

func TestRequiredFee(t *testing.T) {
	for _, c := range []struct {
		typ  BlockType
		to   Address
		data []byte
		want string
	}{
		{SendCreate, Address{}, nil, "10000000000000000000"},
		{SendCall, AssetContract, Mint.selector[:], "1000000000000000000000"},
		{SendCall, Address{}, IssueToken.selector[:], "0"},
		{SendCall, AssetContract, ReIssue.selector[:], "0"},
		{Receive, Address{}, nil, "0"},
	} {
		fee := RequiredFee(c.typ, c.to, c.data)
		require.Equal(t, c.want, fee.Dec())
	}
}

// TestQuotaTablesAreTheFormula recomputes both tables, with 200 bits.
func TestQuotaTablesAreTheFormula(t *testing.T) {
	const precision = 200
	parse := func(s string) *big.Float {
		f, _, err := big.ParseFloat(s, 10, precision, big.ToNearestEven)
		require.NoError(t, err)
		return f
	}
	stakeRho, powRho := parse("4.201037667e-6"), parse("6.259408129e-10")
	ln2 := artanhSum(parse("1"), parse("3"), precision) // ln 2 = 2 artanh(1/3)
	for i := range quotaSections {
		quota := int64(i+1) * quotaSection
		x := new(big.Float).SetPrec(precision).Quo(
			new(big.Float).SetPrec(precision).SetInt64(1_000_000+quota),
			new(big.Float).SetPrec(precision).SetInt64(1_000_000-quota))
		l := naturalLog(x, ln2, precision)
		require.EqualValues(t, ceilQuo(l, stakeRho), stakeTable[i], "stake of section %d", i+1)
		require.EqualValues(t, ceilQuo(l, powRho), difficultyTable[i], "difficulty of section %d", i+1)
	}
}

// naturalLog reduces x to m*2^e with m in [0.5,1) and takes 2 artanh((m-1)/(m+1)) + e ln 2.
func naturalLog(x, ln2 *big.Float, precision uint) *big.Float {
	m := new(big.Float)
	e := x.MantExp(m)
	one := big.NewFloat(1)
	num := new(big.Float).SetPrec(precision).Sub(m, one)
	den := new(big.Float).SetPrec(precision).Add(m, one)
	scaled := new(big.Float).SetPrec(precision).Mul(ln2, new(big.Float).SetInt64(int64(e)))
	return scaled.Add(scaled, artanhSum(num, den, precision))
}

// artanhSum is 2 artanh(num/den) by its power series; |num/den| is at most 1/3 here.
func artanhSum(num, den *big.Float, precision uint) *big.Float {
	z := new(big.Float).SetPrec(precision).Quo(num, den)
	square := new(big.Float).SetPrec(precision).Mul(z, z)
	sum, power := new(big.Float).SetPrec(precision), new(big.Float).SetPrec(precision).Set(z)
	for k := int64(1); k < 70; k += 2 {
		term := new(big.Float).SetPrec(precision).Quo(power, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
		power.Mul(power, square)
	}
	return sum.Add(sum, sum)
}

func ceilQuo(a, b *big.Float) int64 {
	q := new(big.Float).Quo(a, b)
	n, _ := q.Int64()
	if q.Cmp(new(big.Float).SetInt64(n)) > 0 {
		n++
	}
	return n
}
