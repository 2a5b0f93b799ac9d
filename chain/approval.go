package chain

// Approval is a person's signed approval of one payment until a time, with an Ed25519 key or a
// passkey.
type Approval struct {
	Key       string `json:"key"`     // public
	Expires   int64  `json:"expires"` // seconds since 1970
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`

	// Of a passkey, which signs both of these: the second names the hash of the payment and the
	// page. Empty for an Ed25519 key.
	AuthenticatorData string `json:"authenticatorData,omitempty"`
	ClientData        string `json:"clientData,omitempty"`
}
