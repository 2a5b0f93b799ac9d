package rpc

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
)

// producer is the account that makes the snapshot blocks of a fixture's chain.
func (f *fixture) producer() core.Address {
	return read(f.node, func(v *node.View) *node.SnapshotBlock { return v.SnapshotByHash(v.Head().Hash) }).Producer
}

// TestProducerQueries: the chain's producer is found by name and by account, in both generations
// of names.
func TestProducerQueries(t *testing.T) {
	f := start(t, nil)
	f.advance(10)
	const gid = `"00000000000000000001"`
	p, zeros := f.producer().String(), `"blockProducingReward":"0","votingReward":"0","totalReward":"0"`
	info := fmt.Sprintf(`{"name":"s1","blockProducingAddress":%[1]q,"rewardWithdrawAddress":%[1]q,"stakeAddress":%[1]q,
		"stakeAmount":"0","expirationHeight":"0","expirationTime":0,"revokeTime":0}`, p)
	registered := fmt.Sprintf(`[{"name":"s1","nodeAddr":%[1]q,"pledgeAddr":%[1]q,"pledgeAmount":"0","withdrawHeight":"0",
		"withdrawTime":0,"cancelTime":0}]`, p)
	votes := fmt.Sprintf(`[{"blockProducerName":"s1","totalVotes":"0","blockProducingAddress":%[1]q,"historyProducingAddresses":[%[1]q],"addressVoteMap":{}}]`, p)
	v1Votes := fmt.Sprintf(`[{"Name":"s1","Balance":0,"Type":null,"CurrentAddr":%[1]q,"RegisterList":[%[1]q],"Addr":{}}]`, p)
	other := `"` + f.alice.Address().String() + `"`
	for _, tt := range []struct{ method, params, want string }{
		{"contract_getSBPList", `"` + p + `"`, `[` + info + `]`},
		{"contract_getSBPList", other, `[]`},
		{"contract_getSBP", `"s1"`, info},
		{"contract_getSBP", `"s2"`, `null`},
		{"contract_getSBPRewardPendingWithdrawal", `"s1"`, `{` + zeros + `,"producedBlocks":"0","targetBlocks":"0","allRewardWithdrawed":false}`},
		{"contract_getSBPRewardPendingWithdrawal", `"s2"`, `null`},
		{"contract_getSBPVoteList", ``, fmt.Sprintf(`[{"sbpName":"s1","blockProducingAddress":%q,"votes":"0"}]`, p)},
		{"contract_getVotedSBP", other, `null`},
		{"contract_getSBPVoteDetailsByCycle", `"104"`, votes},
		{"contract_getSBPVoteDetailsByCycle", `"x"`, `{"code":-32002,"message":"strconv.ParseUint: parsing \"x\": invalid syntax"}`},
		{"vote_getVoteDetails", `104`, v1Votes},
		{"vote_getVoteDetails", `null`, v1Votes},
		{"vote_getVoteDetails", ``, v1Votes},
		{"vote_getVoteInfo", gid + `,` + other, `null`},
		{"register_getRegistrationList", gid + `,"` + p + `"`, registered},
		{"register_getRegistrationList", gid + `,` + other, `[]`},
		{"register_getAvailableReward", gid + `,"s1"`, `{"totalReward":"0","blockReward":"0","voteReward":"0","drained":false}`},
		{"register_getAvailableReward", gid + `,"none"`, `null`},
		{"register_getCandidateList", ``, fmt.Sprintf(`[{"name":"s1","nodeAddr":%q,"voteNum":"0"}]`, p)},
		{"contract_getDelegatedStakeInfo", fmt.Sprintf(`{"stakeAddress":%[1]s,"delegateAddress":%[1]s,"beneficiary":%[1]s,"bid":2}`, other), `null`},
		{"pledge_getAgentPledgeInfo", fmt.Sprintf(`{"pledgeAddr":%[1]s,"agentAddr":%[1]s,"beneficialAddr":%[1]s,"bid":2}`, other), `null`},
		{"net_syncDetail", ``, `{"from":0,"to":0,"current":10,"state":"Sync done","status":"Sync done","tasks":[],"connections":[],"chunks":[],"caches":[]}`},
	} {
		require.JSONEq(t, tt.want, f.invoke(tt.method, `[`+tt.params+`]`).shown(t), "%s %s", tt.method, tt.params)
	}
}

// TestProducedBlocksByCycle counts the snapshot blocks of days. The genesis is of the first day
// of all; the blocks after it were made around the end of another day.
func TestProducedBlocksByCycle(t *testing.T) {
	f := start(t, nil)
	const day = 2740
	f.clock.Store(dayStart(day+1) - 4)
	f.advance(8) // the blocks 2 to 4 before the end of the day, 5 to 8 from there on
	produced := func(blocks int, cycle int64) string {
		return fmt.Sprintf(`{"rewardMap":{"s1":{"blockProducingReward":"0","votingReward":"0","totalReward":"0","producedBlocks":"%[1]d",
			"targetBlocks":"%[1]d","allRewardWithdrawed":false}},"startTime":%[2]d,"endTime":%[3]d,"cycle":"%[4]d"}`,
			blocks, dayStart(cycle), dayStart(cycle+1), cycle)
	}
	for _, tt := range []struct{ method, params, want string }{
		{"contract_getSBPRewardByCycle", `"2740"`, produced(3, day)},
		{"contract_getSBPRewardByCycle", `2741`, produced(4, day+1)},
		{"contract_getSBPRewardByCycle", `"0"`, produced(0, 0)},
		{"contract_getSBPRewardByCycle", `"2742"`, `null`},
		{"contract_getSBPRewardByCycle", `"4294967296"`, `{"code":-32002,"message":"cycle is out of range"}`},
		{"contract_getSBPRewardByTimestamp", fmt.Sprint(dayStart(day + 1)), produced(4, day+1)},
		{"contract_getSBPRewardByTimestamp", fmt.Sprint(dayStart(day+1) - 1), produced(3, day)},
		{"contract_getSBPRewardByTimestamp", `5`, `{"code":-32002,"message":"time is before the first cycle"}`},
		{"register_getRewardByDay", `"00000000000000000001",` + fmt.Sprint(dayStart(day)),
			`{"s1":{"totalReward":"0","blockReward":"0","voteReward":"0","expectedBlockNum":"3","blockNum":"3"}}`},
		{"register_getRewardByIndex", `"00000000000000000001","2740"`, fmt.Sprintf(`{"rewardMap":{"s1":{"totalReward":"0","blockReward":"0",
			"voteReward":"0","expectedBlockNum":"3","blockNum":"3"}},"startTime":%d,"endTime":%d}`, dayStart(day), dayStart(day+1))},
		{"register_getRewardByIndex", `"00000000000000000001","2742"`, `null`},
	} {
		require.JSONEq(t, tt.want, f.invoke(tt.method, `[`+tt.params+`]`).shown(t), "%s %s", tt.method, tt.params)
	}
}

// TestTime2Index: the number of a day is the one that the exchange's mining counts by.
func TestTime2Index(t *testing.T) {
	f := start(t, nil)
	f.clock.Store(1795239039)
	for params, want := range map[string]string{
		`null,2`: `2741`, `null,1`: `65785`, `null,0`: `3157704`, `1795239039,2`: `2741`, `1558411200,2`: `0`, `1558497599,2`: `0`, `1558497600,2`: `1`,
		`"2019-05-23T04:00:00Z",2`: `2`, `null,3`: `{"code":-32002,"message":"index type must be 0, 1 or 2"}`,
		`null,-1`: `{"code":-32002,"message":"index type must be 0, 1 or 2"}`, `1,2`: `{"code":-32002,"message":"time is before the first cycle"}`,
	} {
		require.JSONEq(t, want, f.invoke("sbpstats_time2Index", `[`+params+`]`).shown(t), params)
	}
	require.Equal(t, int64(2741), dex.PeriodOf(f.clock.Load()))
	require.Equal(t, time.Unix(1795239039, 0), f.now())
}
