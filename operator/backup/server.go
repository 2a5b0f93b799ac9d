package backup

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/records/signguard"
)

// copyServer copies a sign-guard that is on a server into a new file.
func copyServer(ctx context.Context, url, path string) (err error) {
	from, err := signguard.OpenServer(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := signguard.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(from.CopyTo(ctx, to), to.Close())
}

// keepsServer reports whether the sign-guard on a server stays: it is the backup's, with at least
// as many commits. The backup fills an empty one; any other is refused.
func keepsServer(ctx context.Context, p part, staged string) (bool, error) {
	server, err := signguard.OpenServer(ctx, p.server)
	if err != nil {
		return false, err
	}
	there, err := server.Identity(ctx)
	if err = errors.Join(err, server.Close()); err != nil {
		return false, err
	}
	copied, err := signguard.Open(staged)
	if err != nil {
		return false, err
	}
	backup, err := copied.Identity(ctx)
	switch err = errors.Join(err, copied.Close()); {
	case err != nil:
		return false, err
	case there.ID == backup.ID && there.Commits >= backup.Commits:
		return true, nil
	case there.Commits == 0:
		return false, nil
	}
	return false, fmt.Errorf("%s %w: it is %s with %d commits, the backup's is %s with %d. It is never overwritten: if it is lost, set signer.guard to an empty database",
		p.place(), ErrExists, there.ID, there.Commits, backup.ID, backup.Commits)
}

// fillServer copies the staged sign-guard to its server.
func (r *restore) fillServer(ctx context.Context, p part) error {
	staged, err := signguard.Open(stagedPath(p.path))
	if err != nil {
		return err
	}
	server, err := signguard.OpenServer(ctx, p.server)
	if err != nil {
		return errors.Join(err, staged.Close())
	}
	if err := errors.Join(staged.CopyTo(ctx, server), staged.Close(), server.Close()); err != nil {
		return err
	}
	r.report.Put = append(r.report.Put, p.place())
	return nil
}
