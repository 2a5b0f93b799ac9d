package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// gatewayUser calls a gateway as wallets do.
type gatewayUser struct {
	base string
	http *http.Client
}

func newGatewayUser(base string) *gatewayUser {
	return &gatewayUser{base: base, http: &http.Client{Timeout: 30 * time.Second}}
}

// depositInfo and the others are the parts of the answers that wallets read.
type (
	depositInfo struct {
		DepositAddress, Label, MinimumDepositAmount string
		ConfirmationCount                           int
	}
	withdrawInfo struct{ GatewayAddress, MinimumWithdrawAmount, MaximumWithdrawAmount string }
	addressCheck struct{ IsValidAddress bool }
	withdrawFee  struct{ Fee string }
	recordPage   struct {
		TotalCount      int
		DepositRecords  []publicRecord
		WithdrawRecords []publicRecord
	}
	publicRecord struct {
		InTxHash, OutTxHash, Amount, Fee, State, DateTime string
		InTxConfirmedCount, InTxConfirmationCount         int
		RefundTxHash, RefundState                         string
	}
)

// get asks one endpoint and reads data into an answer; an application error carries the gateway's message.
func (g *gatewayUser) get(ctx context.Context, path string, query map[string]string, into any) error {
	values := url.Values{}
	for k, v := range query {
		values.Set(k, v)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.base+path+"?"+values.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("lang", "en")
	req.Header.Set("version", "v1.0")
	res, err := g.http.Do(req)
	if err != nil {
		return fmt.Errorf("asking %s: %w", path, err)
	}
	defer res.Body.Close()
	var envelope struct {
		Code int
		Msg  string
		Data json.RawMessage
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 4<<20)).Decode(&envelope); err != nil {
		return fmt.Errorf("reading the answer of %s (%s): %w", path, res.Status, err)
	}
	if envelope.Code != 0 {
		return fmt.Errorf("%s answers code %d: %s", path, envelope.Code, envelope.Msg)
	}
	return json.Unmarshal(envelope.Data, into)
}

// record finds one of a user's records by the hash of its incoming transaction.
func (g *gatewayUser) record(ctx context.Context, path, token, wallet, hash string) (publicRecord, bool, error) {
	const size = 100
	for number := 1; ; number++ {
		var page recordPage
		query := map[string]string{"tokenId": token, "walletAddress": wallet, "pageNum": strconv.Itoa(number), "pageSize": strconv.Itoa(size)}
		if err := g.get(ctx, path, query, &page); err != nil {
			return publicRecord{}, false, err
		}
		rows := append(page.DepositRecords, page.WithdrawRecords...)
		for _, r := range rows {
			if r.InTxHash == hash {
				return r, true, nil
			}
		}
		if len(rows) < size {
			return publicRecord{}, false, nil
		}
	}
}
