package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"gatewayd/operator"
	"gatewayd/signer/approval"
	"gatewayd/transfers"
)

func approverCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "approver", Short: "Keys of the people who approve payments",
		Long: "Keys of the people who approve payments: a key file created by `approver new` and used by `gatewayd approve`, or a passkey used in the\n" +
			"console. A signed-in user registers a passkey there; `gatewayd console passkeys` prints its entry for signer.approvals.approvers. The signing process\n" +
			"also needs signer.approvals.url, the public address of the console.",
	}
	c.AddCommand(&cobra.Command{
		Use: "new FILE", Short: "Create a key file, and print its public key for signer.approvals.approvers", Args: cobra.ExactArgs(1),
		Long: "Create an approver's Ed25519 key in a file that only you can read. The approver keeps the file, not on the machines of the daemon or the signer. The public key belongs in the\n" +
			"configuration of the signing process.",
		Example: "  gatewayd approver new ~/.gatewayd-approver\n  gatewayd approver new /media/stick/approver",
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := approval.NewKey(args[0])
			if err == nil {
				_, err = fmt.Fprintln(w.stdout, public)
			}
			return err
		},
	})
	return c
}

func approveCommand(w streams) *cobra.Command {
	c := &cobra.Command{}
	return withApproval(w, c, "approve", configFlag(c))
}

// withApproval makes a command approve a record's payment.
func withApproval(w streams, c *cobra.Command, name string, path *string) *cobra.Command {
	var file string
	var lasts time.Duration
	var yes bool
	c.Use, c.Short, c.Args = "approve ID", "Approve a payment that the signer holds, with your key", cobra.ExactArgs(1)
	c.Long = "Show a payment that needs approvals or has no proof, ask for confirmation, and sign it. The signature covers this payment only: its payee, amount,\n" +
		"account and transfer, until the signature expires. The signer verifies it."
	c.Example = fmt.Sprintf("  gatewayd %[1]s 17 --key ~/.gatewayd-approver\n  gatewayd %[1]s 17 --key ~/.gatewayd-approver --for 48h", name)
	c.RunE = onSession(path, func(ctx context.Context, d *operator.Session, args []string) error {
		id, err := recordID(args[0])
		if err != nil {
			return err
		}
		if file == "" {
			return operator.Usagef("--key is required: the file created by `gatewayd approver new`")
		}
		key, err := approval.ReadKey(file)
		if err != nil {
			return err
		}
		return approve(ctx, w, d, id, key, lasts, yes)
	})
	f := c.Flags()
	f.StringVar(&file, "key", "", "file of your key")
	f.DurationVar(&lasts, "for", approval.Lasts, "validity of the approval; at most 168h")
	f.BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func approve(ctx context.Context, w streams, d *operator.Session, id uint64, key ed25519.PrivateKey, lasts time.Duration, yes bool) error {
	_, _, err := d.Approver(approval.PublicText(key.Public().(ed25519.PublicKey)))
	if err != nil {
		return err
	}
	waiting, err := d.WaitingPayment(ctx, id)
	if err != nil {
		return err
	}
	showWaiting(w, d, waiting)
	if !yes {
		fmt.Fprint(w.stdout, "Approve exactly this payment? Type yes: ")
		answer, _ := w.readLine() // without an answer nothing is approved
		if strings.TrimSpace(answer) != "yes" {
			return fmt.Errorf("approval cancelled")
		}
	}
	signature, err := approval.Sign(key, waiting.Payment.Chain, waiting.Claim, time.Now().Add(lasts))
	if err == nil {
		err = d.Approve(ctx, waiting, signature)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "Approved until %s. The daemon sends it to the signer within a second; `gatewayd records show %d` shows its progress.\n",
		stamp(time.Unix(signature.Expires, 0)), id)
	return nil
}

// showWaiting prints a payment in full: exactly the signed content.
func showWaiting(w streams, d *operator.Session, x operator.Waiting) {
	p, t := x.Payment, x.Transfer
	for _, line := range []string{
		fmt.Sprintf("Payment %d pays %s", p.ID, d.Config.AssetAmount(p.Chain, p.Asset, p.Amount)),
		fmt.Sprintf("  to      %s %s", p.Payee, p.PayeeLabel), fmt.Sprintf("  on      %s, from %s", p.Chain, p.Account),
		fmt.Sprintf("  as      %s of the %s %d of %s on %s", p.Purpose, t.Direction, t.ID, d.Config.AssetAmount(t.Chain, t.Asset, t.Amount), t.Chain),
		fmt.Sprintf("  sent by %s", t.From), fmt.Sprintf("  in      %s, block %d", t.Tx, t.Height), fmt.Sprintf("  user    %s", t.Owner),
		fmt.Sprintf("  state   %s %s, %d approvals", p.State, p.Reason, len(x.Known)),
	} {
		fmt.Fprintln(w.stdout, printable(line))
	}
	printExplorer(w.stdout, printable(inTxURL(d.Config, t)))
}

// printable is a line without what moves a terminal's cursor: whoever owns the database could write
// another payment over this one.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, line)
}

func recordsApproveCommand(w streams, config *string) *cobra.Command {
	return withApproval(w, &cobra.Command{}, "records approve", config)
}

func recordsRejectCommand(w streams, config *string) *cobra.Command {
	var o transfers.Order
	c := orderCommand(w, config, &o, "who rejects it and why", &cobra.Command{
		Use: "reject ID", Short: "Reject a pending payment: the complete transfer returns to its sender",
		Long:    "Reject a payment that waits for approvals or is held by the signer. The complete transfer returns to its sender, or goes to --to; no fee is kept.",
		Example: "  gatewayd records reject 17 --why 'ticket 4711: the user did not order it'\n  gatewayd records reject 17 --to 0x… --why 'ticket 4711'",
	})
	f := c.Flags()
	f.StringVar(&o.To, "to", "", "address to refund instead of the sender, on the chain that the transfer came by")
	f.StringVar(&o.Why, "why", "", "who rejects it and why, stored in the history")
	nothingMovedFlag(c, &o)
	return c
}
