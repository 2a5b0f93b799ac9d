package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/operator"
	"gatewayd/operator/console"
	"gatewayd/records"
	"gatewayd/records/access"
)

func consoleCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "console", Short: "Say who may sign in to the operators' console",
		Long: "Say who may sign in to the operators' console: JSON below /console/api of the operators' listener. A user has a name, a role, a password and\n" +
			"a second factor. Nobody can sign in before the first is added.",
	}
	config := configFlag(c)
	c.AddCommand(consoleListCommand(w, config), consoleAddCommand(w, config), consoleRemoveCommand(w, config))
	return c
}

// consoleUser is a line of `console list --json`.
type consoleUser struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Created string `json:"created"`
}

func consoleListCommand(w streams, config *string) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: "list", Short: "List who may sign in", Args: cobra.NoArgs,
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, _ []string) error {
			var users []access.User
			err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
				users, err = access.Users(tx)
				return err
			})
			if err != nil {
				return err
			}
			rows, values := make([][]string, len(users)), make([]consoleUser, len(users))
			for i, u := range users {
				values[i] = consoleUser{u.Name, string(u.Role), u.Created.UTC().Format(time.RFC3339)}
				rows[i] = []string{values[i].Name, values[i].Role, values[i].Created}
			}
			return f.table(w.stdout, []string{"name", "role", "since"}, rows, values)
		}),
	}
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

// passwordSize is how many random bytes a password that is made here has.
const passwordSize = 15

func consoleAddCommand(w streams, config *string) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use: "add NAME", Short: "Let somebody sign in, or give them a new role, password and second factor", Args: cobra.ExactArgs(1),
		Long: "Let somebody sign in. A password and the secret of the second factor are made and printed once; hand them over on a way that nobody reads.\n" +
			"For a name that is there already they are made anew, and whoever is signed in under it no longer is.",
		Example: "  gatewayd console add anna --role operator",
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			raw := make([]byte, passwordSize)
			_, _ = rand.Read(raw) // never fails
			password := base64.RawURLEncoding.EncodeToString(raw)
			kept, err := console.HashPassword(password)
			if err != nil {
				return err
			}
			secret, err := console.NewSecret()
			if err != nil {
				return err
			}
			err = d.Change(ctx, func(tx *records.Tx) error {
				return access.Put(tx, access.User{Name: args[0], Role: access.Role(role), Password: kept, TOTP: secret})
			})
			switch {
			case errors.Is(err, access.ErrName):
				return operator.Usagef("NAME %q: %w", args[0], access.ErrName)
			case errors.Is(err, access.ErrRole):
				return operator.Usagef("--role %q: %w", role, access.ErrRole)
			case err != nil:
				return err
			}
			fmt.Fprintf(w.stdout, "%s may sign in as %s.\npassword       %s\nsecond factor  %s\nfor a QR code  %s\n", args[0], role, password, secret, console.SecretURI(args[0], secret))
			return nil
		}),
	}
	c.Flags().StringVar(&role, "role", string(access.Viewer), fmt.Sprintf("one of %v", access.Roles()))
	_ = c.RegisterFlagCompletionFunc("role", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // the flag is there
		var names []string
		for _, r := range access.Roles() {
			names = append(names, string(r))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

func consoleRemoveCommand(w streams, config *string) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Let somebody sign in no longer", Args: cobra.ExactArgs(1),
		RunE: onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
			err := d.Change(ctx, func(tx *records.Tx) error { return access.Remove(tx, args[0]) })
			if errors.Is(err, records.ErrNotFound) {
				return fmt.Errorf("there is no user %q: `gatewayd console list` shows them", args[0])
			}
			if err == nil {
				fmt.Fprintf(w.stdout, "%s signs in no longer.\n", args[0])
			}
			return err
		}),
	}
}
