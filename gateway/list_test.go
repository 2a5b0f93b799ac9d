package gateway

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

func list(endpoint, owner string, num, size int) string {
	return at(eth, endpoint, "tokenId", token, "walletAddress", owner, "pageNum", strconv.Itoa(num), "pageSize", strconv.Itoa(size))
}

func TestDepositRecords(t *testing.T) {
	r := setup(t)
	millis := r.Now().UnixMilli()
	wrap := func(total int, items string) string {
		return ok(fmt.Sprintf(`{"totalCount":%d,"depositRecords":[%s],"inTxExplorerFormat":"https://eth.example/tx/{$tx}","outTxExplorerFormat":"https://vite.example/tx/{$tx}"}`, total, items))
	}
	one := func(tx, lead string, confirmed int, amount, state string) string {
		return fmt.Sprintf(`{"inTxHash":%q,%s"inTxConfirmedCount":%d,"inTxConfirmationCount":12,"amount":%q,"fee":"0","state":%q,"dateTime":"%d"}`,
			tx, lead, confirmed, amount, state, millis)
	}
	all := list("/deposit-records", alice, 1, 10)
	require.JSONEq(t, wrap(0, ""), r.get(all).body, "nobody has records before the first")

	r.Receive(records.Deposit, 1000)
	require.JSONEq(t, wrap(1, one("0xin1", "", 1, "1000", "OPPOSITE_PROCESSING")), r.get(all).body)
	_, payment := r.Owe(records.Deposit, 2000)
	require.JSONEq(t, wrap(2, one("0xin2", "", 12, "2000", "OPPOSITE_CONFIRMED")+","+one("0xin1", "", 2, "1000", "OPPOSITE_PROCESSING")), r.get(all).body)
	hash := r.Sign(r.Bind(payment), records.AttemptPay)
	out := fmt.Sprintf(`"outTxHash":%q,`, hash)
	require.JSONEq(t, wrap(2, one("0xin2", out, 12, "2000", "TOT_PROCESSING")), r.get(list("/deposit-records", alice, 1, 1)).body)
	require.JSONEq(t, wrap(2, one("0xin1", "", 2, "1000", "OPPOSITE_PROCESSING")), r.get(list("/deposit-records", alice, 2, 1)).body)
	require.JSONEq(t, wrap(2, ""), r.get(list("/deposit-records", alice, 3, 1)).body, "beyond the end")
	require.JSONEq(t, wrap(0, ""), r.get(list("/deposit-records", bob, 1, 10)).body, "others have theirs")
}

func TestPaidDeposit(t *testing.T) {
	r := setup(t)
	_, payment := r.Owe(records.Deposit, 2000)
	hash := r.Pay(payment)
	got := r.get(list("/deposit-records", alice, 1, 10)).data(t)["depositRecords"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"TOT_CONFIRMED", hash}, []any{got["state"], got["outTxHash"]})
}

// A record that waits for people has the mark until it is paid.
func TestHeldRecord(t *testing.T) {
	r := setup(t)
	_, payment := r.Owe(records.Deposit, 2000)
	held := func() any {
		return r.get(list("/deposit-records", alice, 1, 10)).data(t)["depositRecords"].([]any)[0].(map[string]any)["held"]
	}
	require.Nil(t, held())
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(payment, records.Queued, records.HeldPayment, records.HeldUnproven)
	})
	require.Equal(t, true, held())
}

func TestWithdrawRecords(t *testing.T) {
	r := setup(t)
	refusedTransfer := r.Receive(records.Withdrawal, 1000)
	millis := r.Now().UnixMilli()
	r.Do(func(tx *records.Tx) error {
		return tx.Transfers().Move(refusedTransfer.ID, records.Seen, records.Refused, records.ReasonWrongAddress)
	})
	item := func(confirmed int, state, lead string) string {
		return ok(fmt.Sprintf(`{"totalCount":1,"withdrawRecords":[{"inTxHash":"0xin1","inTxConfirmedCount":%d,"inTxConfirmationCount":30,"amount":"999","fee":"1","state":%q,"dateTime":"%d","withdrawAddress":"0xpayee"%s}],"inTxExplorerFormat":"https://vite.example/tx/{$tx}","outTxExplorerFormat":"https://eth.example/tx/{$tx}"}`,
			confirmed, state, millis, lead))
	}
	all := list("/withdraw-records", alice, 1, 10)
	require.JSONEq(t, item(30, "WRONG_WITHDRAW_ADDRESS", ""), r.get(all).body)

	refund := recordstest.CreditOf(refusedTransfer)
	refund.Purpose, refund.Chain, refund.Account, refund.Asset, refund.Amount, refund.Payee = "refund", recordstest.Exchange, recordstest.Gateway, token, refusedTransfer.Amount, alice
	var id uint64
	r.Do(func(tx *records.Tx) (err error) { id, err = tx.Payments().Queue(refund); return err })
	returned := `,"refundAmount":"1000","refundAddress":"` + alice + `"`
	require.JSONEq(t, item(30, "WRONG_WITHDRAW_ADDRESS", `,"refundState":"REFUNDING"`+returned), r.get(all).body)
	hash := r.Pay(id)
	require.JSONEq(t, item(30, "WRONG_WITHDRAW_ADDRESS", `,"refundState":"REFUNDED","refundTxHash":"`+hash+`"`+returned), r.get(all).body)
}

// The receiver of a withdrawal has a label where the source chain uses them; a comment that names
// none shows none.
func TestWithdrawalShowsItsReceiver(t *testing.T) {
	r := setup(t)
	b := r.Mine(recordstest.Exchange, "")
	r.Do(func(tx *records.Tx) error {
		labelled, unknown := r.Incoming(records.Withdrawal, 1000, b), r.Incoming(records.Withdrawal, 1000, b)
		labelled.PayeeLabel = "memo-42"
		unknown.Payee, unknown.Reason = "", records.ReasonWrongAddress
		for _, in := range []records.Transfer{labelled, unknown} {
			if _, _, err := tx.Transfers().See(in); err != nil {
				return err
			}
		}
		return nil
	})
	var got [][]any
	for _, row := range r.get(list("/withdraw-records", alice, 1, 10)).data(t)["withdrawRecords"].([]any) {
		got = append(got, []any{row.(map[string]any)["withdrawAddress"], row.(map[string]any)["label"]})
	}
	require.Equal(t, [][]any{{nil, nil}, {"0xpayee", "memo-42"}}, got)
}

// A deposit's refund pays the asset, and wallets read it in units of the token.
func TestRefundOfADepositInUnitsOfTheToken(t *testing.T) {
	r := setup(t)
	b := r.Mine(recordstest.Source, "")
	in := r.Incoming(records.Deposit, 50_000, b)
	in.Policy.AssetDecimals, in.Net = in.Policy.Decimals+2, chain.NewAmount(500)
	r.Do(func(tx *records.Tx) error {
		seen, _, err := tx.Transfers().See(in)
		if err != nil {
			return err
		}
		if err := tx.Transfers().Move(seen.ID, records.Seen, records.Refused, records.ReasonOperator); err != nil {
			return err
		}
		refund := recordstest.CreditOf(seen)
		refund.Purpose, refund.Chain, refund.Account, refund.Asset, refund.Amount, refund.Payee = "refund", recordstest.Source, recordstest.Hot, chain.Native, in.Amount, "0xuser"
		_, err = tx.Payments().Queue(refund)
		return err
	})
	got := r.get(list("/deposit-records", alice, 1, 10)).data(t)["depositRecords"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"REFUNDING", "500", "0xuser", nil}, []any{got["refundState"], got["refundAmount"], got["refundAddress"], got["withdrawAddress"]})
}

func TestNetworksAndTokensAreKeptApart(t *testing.T) {
	r := setup(t)
	r.Receive(records.Deposit, 1000)
	total := func(base, id string) any {
		return r.get(at(base, "/deposit-records", "tokenId", id, "walletAddress", alice, "pageNum", "1", "pageSize", "10")).data(t)["totalCount"]
	}
	require.Equal(t, []any{1.0, 0.0, 0.0}, []any{total(eth, token), total(bsc, token), total(eth, costly)})
}

// Android asks for 30 and takes a shorter page for the last; no client gets more than 100.
func TestPageSizes(t *testing.T) {
	r := setup(t)
	const all = 130
	b := r.Mine(recordstest.Source, "")
	r.Do(func(tx *records.Tx) error {
		for range all {
			if _, _, err := tx.Transfers().See(r.Incoming(records.Deposit, 1000, b)); err != nil {
				return err
			}
		}
		return nil
	})
	tests := []struct {
		num, size, want int
		first           string
	}{
		{1, 10, 10, "0xin130"},
		{1, 30, 30, "0xin130"},
		{2, 15, 15, "0xin115"},
		{1, 1_000_000, 100, "0xin130"},
		{2, 1_000_000, 30, "0xin30"},
		{13, 10, 10, "0xin10"},
		{14, 10, 0, ""},
		{1_000_000_000, 100, 0, ""},
	}
	for _, tt := range tests {
		data := r.get(list("/deposit-records", alice, tt.num, tt.size)).data(t)
		items := data["depositRecords"].([]any)
		require.Len(t, items, tt.want)
		require.Equal(t, float64(all), data["totalCount"])
		if tt.want > 0 {
			require.Equal(t, tt.first, items[0].(map[string]any)["inTxHash"])
		}
	}
	far := at(eth, "/deposit-records", "tokenId", token, "walletAddress", alice, "pageNum", "99999999999999999999999", "pageSize", "99999999999999999999999")
	require.Empty(t, r.get(far).data(t)["depositRecords"])
}

// A user with 100,000 records reads any page. The rows are inserted by SQL, because the store would
// take too long to log each.
func TestHundredThousandRecords(t *testing.T) {
	r := setup(t)
	first := r.Receive(records.Deposit, 1000)
	db, err := sql.Open("sqlite3", strings.TrimPrefix(r.URL, "sqlite:"))
	require.NoError(t, err)
	defer db.Close()
	const all = 100_000
	_, err = db.Exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO transfers (id, network, direction, chain, ref, tx, sender, account, asset, amount, memo, failed, token, owner, payee, payee_label,
			net, fee, policy, state, reason, height, block_hash, block_at, seen_at, changed_at)
		SELECT i, network, direction, chain, 'ref' || i, '0xin' || i, sender, account, asset, amount, memo, failed, token, owner, payee, payee_label,
			net, fee, policy, state, reason, height, block_hash, block_at, seen_at, changed_at FROM transfers, n WHERE id = ?`, all, first.ID)
	require.NoError(t, err)
	for page, want := range map[int]string{1: "0xin100000", 5_000: "0xin50010", 10_000: "0xin10"} {
		data := r.get(list("/deposit-records", alice, page, 10)).data(t)
		require.Equal(t, float64(all), data["totalCount"])
		require.Equal(t, want, data["depositRecords"].([]any)[0].(map[string]any)["inTxHash"])
	}
}
