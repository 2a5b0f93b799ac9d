package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gatewayd/vite/core"
)

// signedText is a text with the proof that an account's key signed it.
type signedText struct {
	Address   string `json:"address"`
	PublicKey string `json:"publicKey"` // hexadecimal
	Signature string `json:"signature"`
}

func (d *walletCommands) signCommand() *cobra.Command {
	var text string
	var index uint32
	c := &cobra.Command{
		Use: "sign STORE --text TEXT", Short: "Sign a text with the key of a store's account, such as a service asks for as a proof", Args: cobra.ExactArgs(1),
		Long:    "Sign a text with the key of a store's account, such as a service asks for as a proof. Read the text before: who has the signature can show it.",
		Example: "  gatewayd wallet sign vite_... --text vite_..._1614571200",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSignable(text); err != nil {
				return err
			}
			m, err := d.unlocked(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer m.LockAll()
			account, err := m.Derive(args[0], index)
			if err != nil {
				return err
			}
			public := account.Key.Public()
			out := signedText{account.Key.Address().String(), hex.EncodeToString(public[:]), hex.EncodeToString(account.Key.Sign([]byte(text)))}
			if d.json {
				return printJSON(d.w.stdout, out)
			}
			_, err = fmt.Fprintf(d.w.stdout, "Address: %s\nPublic key: %s\nSignature: %s\n", out.Address, out.PublicKey, out.Signature)
			return err
		},
	}
	c.Flags().StringVar(&text, "text", "", "what to sign: plain letters, digits and signs")
	c.Flags().Uint32Var(&index, "index", 0, "which account of the store")
	return c
}

// maxSigned is longer than any text that a service asks for.
const maxSigned = 1024

// checkSignable refuses what could be more than a text: whoever signs the 32 bytes of a block's hash has signed the block.
func checkSignable(text string) error {
	switch {
	case text == "" || len(text) > maxSigned:
		return fmt.Errorf("text: 1 to %d characters are wanted", maxSigned)
	case len(text) == core.HashSize:
		return fmt.Errorf("text: %d characters are as long as the hash of a block, whose signature moves money", core.HashSize)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }):
		return errors.New("text: plain letters, digits and signs are wanted")
	}
	return nil
}
