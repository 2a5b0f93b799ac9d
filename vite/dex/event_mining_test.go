package dex

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

func TestRewardAndInvitation(t *testing.T) {
	reward := Reward{
		Address: core.Address{1}, Token: VX, Amount: *uint256.NewInt(7), Period: 2000, Weight: *uint256.NewInt(9),
		QuoteType: QuoteBTC, Market: 3,
	}
	read, err := DecodeReward(reward.Encode())
	require.NoError(t, err)
	require.Equal(t, reward, read)
	invitation := Invitation{Inviter: core.Address{1}, Invitee: core.Address{2}, Code: 1<<32 - 1}
	joined, err := DecodeInvitation(invitation.Encode())
	require.NoError(t, err)
	require.Equal(t, invitation, joined)
}

func FuzzReward(f *testing.F) {
	reward := Reward{Address: core.Address{1}, Token: VX, Amount: *uint256.NewInt(7), Period: 2000, QuoteType: QuoteBTC}
	f.Add(reward.Encode())
	f.Add([]byte{0x0a, 0x01, 0x00})
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := DecodeReward(data)
		if err != nil {
			require.ErrorIs(t, err, ErrWire)
			return
		}
		again, err := DecodeReward(first.Encode())
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
}

func FuzzInvitation(f *testing.F) {
	invitation := Invitation{Inviter: core.Address{1}, Invitee: core.Address{2}, Code: 77}
	f.Add(invitation.Encode())
	f.Add([]byte{0x18, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := DecodeInvitation(data)
		if err != nil {
			require.ErrorIs(t, err, ErrWire)
			return
		}
		again, err := DecodeInvitation(first.Encode())
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
}
