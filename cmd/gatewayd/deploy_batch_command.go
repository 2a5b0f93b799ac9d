package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/secretfile"
	"gatewayd/operator"
)

func deployBatchCommand(path *string, w streams) *cobra.Command {
	var keyFile string
	c := &cobra.Command{
		Use: "deploy-batch CHAIN", Short: "Deploy the contract that makes several payouts in one transaction", Args: cobra.ExactArgs(1),
		Long: "Deploy the contract of batches (ethereum.batch) on a chain. Its address depends on its code alone and is the same on every chain. It has no\n" +
			"owner and holds nothing. Without --key-file this prints the transaction, for a wallet of any account that is not the gateway's. With it the\n" +
			"command sends the transaction and waits until the nodes show the contract.",
		Example: "  gatewayd chain deploy-batch eth\n  gatewayd chain deploy-batch eth --key-file ~/.deployer-key",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := config.Load(*path)
			if err != nil {
				return err
			}
			d, err := operator.OpenBatchDeployment(cmd.Context(), cfg, args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			if d.Done {
				fmt.Fprintf(w.stdout, "The batch contract is on %s: %s\n", d.ID, d.Address)
				return nil
			}
			if keyFile == "" {
				printDeployment(d, cfg, w)
				return nil
			}
			return sendDeployment(cmd.Context(), d, keyFile, w)
		},
	}
	c.Flags().StringVar(&keyFile, "key-file", "", "file with a private key in hex, of an account that has coin and is not the gateway's")
	return c
}

func printDeployment(d *operator.BatchDeployment, cfg config.Config, w streams) {
	fmt.Fprintf(w.stdout, "The batch contract is not on %s yet. Send this transaction from an account that is not the gateway's:\n", d.ID)
	fmt.Fprintf(w.stdout, "  to     %s\n  value  0\n  gas    %d (%s at the present price)\n  data   0x%x\n", d.Deployer, d.Gas, cfg.AssetAmount(d.ID, chain.Native, d.Cost), d.Input)
	fmt.Fprintf(w.stdout, "It creates the contract at %s.\n", d.Address)
}

func sendDeployment(ctx context.Context, d *operator.BatchDeployment, keyFile string, w streams) error {
	text, err := secretfile.Read(keyFile)
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(string(text)), "0x"))
	if err != nil {
		return operator.Usagef("%s: must be a private key in hex", keyFile) // without the text, which may be a key
	}
	key, err := crypto.ToECDSA(raw)
	if err != nil {
		return operator.Usagef("%s: %w", keyFile, err)
	}
	err = d.Send(ctx, key, func(hash string) { fmt.Fprintf(w.stdout, "Sent %s; waiting for its block.\n", hash) })
	if err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "The batch contract is on %s: %s\nSet ethereum.batch.most for it and restart the daemon.\n", d.ID, d.Address)
	return nil
}
