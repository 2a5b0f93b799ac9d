package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"gatewayd/chain"
)

// GatewayUser calls a gateway as wallets do.
type GatewayUser struct {
	Base string
	HTTP *http.Client
}

func NewGatewayUser(base string) *GatewayUser {
	return &GatewayUser{Base: base, HTTP: &http.Client{Timeout: 30 * time.Second}}
}

// DepositInfo and the others are the parts of the answers that wallets read.
type (
	DepositInfo struct {
		DepositAddress, Label, MinimumDepositAmount string
		ConfirmationCount                           int
	}
	WithdrawInfo struct{ GatewayAddress, MinimumWithdrawAmount, MaximumWithdrawAmount string }
	addressCheck struct{ IsValidAddress bool }
	recordPage   struct {
		TotalCount      int
		DepositRecords  []PublicRecord
		WithdrawRecords []PublicRecord
	}
	PublicRecord struct {
		InTxHash, OutTxHash, Amount, Fee, State, DateTime string
		InTxConfirmedCount, InTxConfirmationCount         int
		RefundTxHash, RefundState                         string
	}
)

// A gateway that is busy wants to be asked again later: this often, and no longer than that.
const (
	busyPause = time.Second
	busyLimit = time.Minute
)

// errBusy is the gateway's answer when it could not answer in time; its subCode is busyCode.
var errBusy = errors.New("the gateway is busy")

const busyCode = 2002

// Get asks one endpoint and reads data into an answer; an application error carries the gateway's
// message. A busy gateway is asked again for a minute.
func (g *GatewayUser) Get(ctx context.Context, path string, query map[string]string, into any) error {
	for end := time.Now().Add(busyLimit); ; {
		err := g.ask(ctx, path, query, into)
		if !errors.Is(err, errBusy) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyPause):
		}
	}
}

func (g *GatewayUser) ask(ctx context.Context, path string, query map[string]string, into any) error {
	values := url.Values{}
	for k, v := range query {
		values.Set(k, v)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.Base+path+"?"+values.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("lang", "en")
	req.Header.Set("version", "v1.0")
	res, err := g.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("asking %s: %w", path, err)
	}
	defer res.Body.Close()
	var envelope struct {
		Code, SubCode int
		Msg           string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 4<<20)).Decode(&envelope); err != nil {
		return fmt.Errorf("reading the answer of %s (%s): %w", path, res.Status, err)
	}
	if envelope.SubCode == busyCode {
		return fmt.Errorf("%s: %w: %s", path, errBusy, envelope.Msg)
	}
	if envelope.Code != 0 {
		return fmt.Errorf("%s answers code %d: %s", path, envelope.Code, envelope.Msg)
	}
	return json.Unmarshal(envelope.Data, into)
}

// DepositInfo asks where a user deposits a token.
func (g *GatewayUser) DepositInfo(ctx context.Context, token, wallet string) (info DepositInfo, err error) {
	return info, g.Get(ctx, "/deposit-info", map[string]string{"tokenId": token, "walletAddress": wallet}, &info)
}

// Gross asks for the fee of a withdrawal and adds it to what is to arrive.
func (g *GatewayUser) Gross(ctx context.Context, token, wallet string, net chain.Amount) (gross chain.Amount, err error) {
	var fee struct{ Fee string }
	query := map[string]string{"tokenId": token, "walletAddress": wallet, "amount": net.String(), "containsFee": "false"}
	if err := g.Get(ctx, "/withdraw-fee", query, &fee); err != nil {
		return gross, err
	}
	charged, err := chain.ParseAmount(fee.Fee)
	if err != nil {
		return gross, fmt.Errorf("fee: %w", err)
	}
	return net.Add(charged)
}

// Record finds one of a user's records by the hash of its incoming transaction.
func (g *GatewayUser) Record(ctx context.Context, path, token, wallet, hash string) (PublicRecord, bool, error) {
	const size = 100
	for number := 1; ; number++ {
		var page recordPage
		query := map[string]string{"tokenId": token, "walletAddress": wallet, "pageNum": strconv.Itoa(number), "pageSize": strconv.Itoa(size)}
		if err := g.Get(ctx, path, query, &page); err != nil {
			return PublicRecord{}, false, err
		}
		rows := append(page.DepositRecords, page.WithdrawRecords...)
		for _, r := range rows {
			if r.InTxHash == hash {
				return r, true, nil
			}
		}
		if len(rows) < size {
			return PublicRecord{}, false, nil
		}
	}
}
