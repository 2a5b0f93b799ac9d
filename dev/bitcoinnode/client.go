package bitcoinnode

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/btcsuite/btcd/wire/v2"
)

// Client asks a node.
type Client struct {
	url  string
	http *http.Client
}

// NewClient takes the address of JSON-RPC with user and password. Certificates are not checked: the
// node is a process on this machine.
func NewClient(url string) *Client {
	own := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	return &Client{url, &http.Client{Transport: own}}
}

// Call asks the node. out may be nil.
func (c *Client) Call(out any, method string, params ...any) error {
	return c.call(c.url, out, method, params)
}

// CallWallet asks for one of the wallets of litecoind.
func (c *Client) CallWallet(wallet string, out any, method string, params ...any) error {
	return c.call(c.url+"/wallet/"+wallet, out, method, params)
}

func (c *Client) call(url string, out any, method string, params []any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("asking %s: %w", method, err)
	}
	answer, err := c.http.Do(q)
	if err != nil {
		return fmt.Errorf("asking %s: %w", method, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("asking %s: %w", method, err)
	}
	var reply struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return fmt.Errorf("asking %s: %w: %.200q", method, err, text)
	}
	if reply.Error != nil {
		return fmt.Errorf("%s: %s (%d)", method, reply.Error.Message, reply.Error.Code)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(reply.Result, out)
}

// Height is the number of blocks above the first.
func (c *Client) Height() (height uint64, err error) {
	err = c.Call(&height, "getblockcount")
	return height, err
}

// Best is the hash of the newest block.
func (c *Client) Best() (hash string, err error) {
	err = c.Call(&hash, "getbestblockhash")
	return hash, err
}

// Block is the block at a height.
func (c *Client) Block(height uint64) (*wire.MsgBlock, error) {
	var hash string
	if err := c.Call(&hash, "getblockhash", height); err != nil {
		return nil, err
	}
	return c.block(hash)
}

func (c *Client) block(hash string) (*wire.MsgBlock, error) {
	var text string
	if err := c.Call(&text, "getblock", hash, 0); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(text)
	block := new(wire.MsgBlock)
	if err == nil {
		err = block.Deserialize(bytes.NewReader(raw))
	}
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", hash, err)
	}
	return block, nil
}

// Send gives a transaction to the node.
func (c *Client) Send(tx *wire.MsgTx) error {
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		return fmt.Errorf("encoding a transaction: %w", err)
	}
	return c.Call(nil, "sendrawtransaction", hex.EncodeToString(raw.Bytes()))
}
