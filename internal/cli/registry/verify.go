package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func newVerify(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify the integrity of the registry or a backup",
		Long: `Verify the integrity of the registry, or of a backup in FILE: that it can be read, that each
version is unchanged, by the chain of digests, that each name has all its versions, and that
aliases, hosts and totals match the names; for the registry also that its names are canonical by
the configuration. urnd may be running. Each problem is a line of the output, and makes the exit
status 1. A backup is first compared with its digest in FILE.sha256, if that exists. With --head
the history must also contain a head that urnd registry head printed.

The commands check and health report names whose targets are wrong or do not respond.`,
		Example: "  urnd registry verify\n  urnd registry verify /var/backups/registry.db",
		Args:    cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	var head []byte
	cli.AddParsed(cmd, &head, "head",
		"a `digest` that urnd registry head has printed: it must be in the history", parseHead)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		started := "reading names"
		if len(args) > 0 {
			started = "comparing the backup with its digest"
		}
		p := cli.StartProgress(cmd, started)
		defer p.End()
		const stands = "%d problems were found so far, and nothing was changed"
		v, err := f.verified(cmd.Context(), p, args)
		if err != nil {
			return p.InterruptedRestart(err, stands, 0)
		}
		defer v.store.Close()
		problems, err := printProblems(cmd.Context(), p, v.verify, cmd.OutOrStdout())
		if err != nil {
			return p.InterruptedRestart(err, stands, problems)
		}
		p.End()
		if problems > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "urnd: %d problems\n", problems)
			return cli.Hint(cli.ErrReported,
				"verify an earlier backup with urnd registry verify FILE, and restore it with restore")
		}
		if v.mark != nil {
			if err := v.mark(cmd.Context(), registry.MarkVerify); err != nil { // only the metric is affected
				fmt.Fprintf(cmd.ErrOrStderr(), "urnd: %v\n", err)
			}
		}
		fmt.Fprintln(cmd.OutOrStdout(), "no problem was found")
		if head != nil {
			return findHead(cmd, v.store, [sha256.Size]byte(head))
		}
		return nil
	}
	return cmd
}

// verified is a store to verify.
type verified struct {
	store  registry.Store
	verify verifying
	mark   func(context.Context, registry.Mark) error // records the verification; nil for a backup
}

// verifying verifies a store: see registry.Store.
type verifying func(ctx context.Context, report func(problem string), progress func(done, all registry.Seq)) error

// verified opens the store to verify: the named backup, or the registry.
func (f *storeFlags) verified(ctx context.Context, p *cli.Progress, args []string) (verified, error) {
	if len(args) > 0 {
		backup, err := openBackup(ctx, p, args[0])
		if err != nil {
			return verified{}, err
		}
		return verified{backup, backup.Verify, nil}, nil
	}
	s, err := existing(ctx, f)
	if err != nil {
		return verified{}, err
	}
	return verified{
		s.store,
		func(ctx context.Context, report func(string), progress func(done, all registry.Seq)) error {
			return s.Verify(ctx, s.actor, report, progress)
		}, s.Mark,
	}, nil
}

// openBackup compares a backup with its digest, and opens it.
func openBackup(ctx context.Context, p *cli.Progress, file string) (registry.Store, error) {
	portable, err := isPortable(file)
	if err != nil {
		return nil, err
	}
	if portable {
		return loaded(ctx, p, file)
	}
	if err := sqlite.CheckDigest(ctx, file); err != nil {
		return nil, err
	}
	return sqlite.OpenBackup(ctx, file)
}

// maxProblems bounds the printed problems, for a completely damaged store.
const maxProblems = 1000

// printProblems verifies a store, prints its problems, and returns their number.
func printProblems(ctx context.Context, p *cli.Progress, verify verifying, to io.Writer) (problems int, err error) {
	w := p.Writer(to)
	err = verify(ctx, func(problem string) {
		if problems++; problems <= maxProblems {
			fmt.Fprintln(w, problem)
		}
	}, func(done, all registry.Seq) {
		p.Show(cli.Step{Activity: "verifying", Done: int64(done), Total: int64(all), Unit: "versions"})
	})
	if problems > maxProblems {
		fmt.Fprintf(w, "... and %d more\n", problems-maxProblems)
	}
	return problems, err
}

func newHead(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "head",
		Short: "Print the digest of the whole registry and its history",
		Long: `Print the number of the last version, and the digest (SHA-256) of the last commit, which covers its
changes and the digest of the commit before. Sign the digest, and store it elsewhere: if verify
--head finds it later, nothing that was registered until then has been changed. Versions that were
redacted or purged since are gone, but their digests remain.`,
		Example: "  urnd registry head",
		Args:    cobra.NoArgs,
	}
	f := addStore(cmd, w)
	return f.run(existing, "reading the registry", "nothing was read",
		func(ctx context.Context, s *session, _ []string) error {
			head, err := s.Head(ctx, s.actor)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%d %x\n", head.Last, head.Digest)
			return err
		})
}

// parseHead parses the digest of a head as urnd registry head prints it, with or without the number before
// it.
func parseHead(text string) ([]byte, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, errors.New("it is not a digest, as urnd registry head prints it")
	}
	b, err := hex.DecodeString(fields[len(fields)-1])
	if err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("the digest does not have %d hexadecimal digits", 2*sha256.Size)
	}
	return b, nil
}

// findHead reports the position of a digest in the history of a store.
func findHead(cmd *cobra.Command, store registry.Store, digest [sha256.Size]byte) error {
	var found, last registry.Commit
	err := store.Read(cmd.Context(), func(tx registry.Tx) (err error) {
		if found, err = tx.CommitByDigest(digest); err == nil {
			last, err = tx.LastCommit()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case found.Last == 0:
		fmt.Fprintf(cmd.OutOrStdout(),
			"the head %x is not in this history: it is of another registry, or of changes that are lost\n", digest)
		return cli.ErrReported
	default:
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "the head is that of number %d, after which there are %d more\n",
			found.Last, last.Last-found.Last)
		return err
	}
}
