package chain

// Approval is what a person says of one payment until a time, with his key.
type Approval struct {
	Key       string `json:"key"`     // public
	Expires   int64  `json:"expires"` // seconds since 1970
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`
}
