package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

func newHead(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "head",
		Short: "Print the digest that stands for the whole registry, with its history",
		Long: `Print the number of the last version, and the digest of the last commit, which is of what it has written and of the digest of the
commit before (SHA-256). Sign it, and keep it elsewhere: where verify --head finds it later, nothing of what was registered then
has been changed. Only what was redacted or purged since is gone, and its digest stays.`,
		Example: "  urnd registry head",
		Args:    cobra.NoArgs,
	}
	f := addStore(cmd, w)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		head, err := s.Head(cmd.Context(), s.actor)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d %x\n", head.Last, head.Digest)
		return err
	}
	return cmd
}

// parseHead returns the digest of a head, as urnd registry head prints it, with or without the number before it.
func parseHead(text string) (digest [sha256.Size]byte, err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 2 {
		return digest, cli.Usage(fmt.Errorf("--head %q: it is not a digest, as urnd registry head prints it", text))
	}
	b, err := hex.DecodeString(fields[len(fields)-1])
	if err != nil || len(b) != len(digest) {
		return digest, cli.Usage(fmt.Errorf("--head %q: the digest does not have %d hexadecimal digits", text, 2*len(digest)))
	}
	return [sha256.Size]byte(b), nil
}

// findHead reports where a head that was kept is in the history of a store.
func findHead(cmd *cobra.Command, store registry.Store, digest [sha256.Size]byte) error {
	var found, last registry.Commit
	err := store.Read(cmd.Context(), func(tx registry.Tx) (err error) {
		if found, err = tx.CommitBy(digest); err == nil {
			last, err = tx.LastCommit()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case found.Last == 0:
		fmt.Fprintf(cmd.OutOrStdout(), "the head %x is not in this history: it is of another registry, or of changes that are lost\n", digest)
		return cli.ErrReported
	default:
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "the head is that of number %d, after which there are %d more\n", found.Last, last.Last-found.Last)
		return err
	}
}
