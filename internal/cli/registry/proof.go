package registry

import (
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

func newHead(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "head",
		Short: "Print the hash that stands for the whole registry, with its history",
		Long: `Print how many versions the registry has, and the root of the tree of hashes over all of them (RFC 6962 section 2.1, SHA-256). Sign
it, and keep it elsewhere: as long as verify finds no fault, and the first versions of the registry still have this root, nothing of what was
registered then has been changed. Only what was redacted or purged since is gone, and its hash stays.`,
		Example: "  urnd registry head",
		Args:    cobra.NoArgs,
	}
	f := addStore(cmd, w)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, _, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer r.Store().Close()
		head, err := r.TreeHead(cmd.Context())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d %x\n", head.Size, head.Root)
		return err
	}
	return cmd
}

func newProve(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prove NAME",
		Short: "Print the proof that the current version of a name is in the registry",
		Long: `Print the proof that the current version of a name is in the registry with the head that urnd registry head prints: as JSON, with
the number of its leaf, which counts from 0, the hash of it, and the hashes of the way to the root (RFC 6962 section 2.1.1, SHA-256). Programs
for transparency logs check it.`,
		Example: "  urnd registry prove urn:nbn:fi:example-1",
		Args:    cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	prefix := addPrefix(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, _, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer r.Store().Close()
		key, err := keyOf(cmd.Context(), r, args[0], *prefix)
		if err != nil {
			return err
		}
		p, err := r.Prove(cmd.Context(), key)
		if err != nil {
			return unknownHelp(key, err)
		}
		if err := p.Verify(); err != nil {
			return fmt.Errorf("the registry does not have %s as it was written: %w", key, err)
		}
		return cli.PrintJSON(cmd.OutOrStdout(), proofDocument(p))
	}
	return cmd
}

// proof is a proof as JSON.
type proof struct {
	Name    string   `json:"name"`
	Version int      `json:"version"`
	Leaf    uint64   `json:"leaf_index"`
	Hash    string   `json:"leaf_hash"`
	Size    uint64   `json:"tree_size"`
	Root    string   `json:"root_hash"`
	Path    []string `json:"audit_path"`
}

func proofDocument(p registry.Proof) proof {
	path := make([]string, len(p.Hashes))
	for i, h := range p.Hashes {
		path[i] = hex.EncodeToString(h[:])
	}
	return proof{
		Name: p.Entry.String(), Version: p.Entry.Version, Leaf: p.Index, Hash: hex.EncodeToString(p.Leaf[:]),
		Size: p.Size, Root: hex.EncodeToString(p.Head.Root[:]), Path: path,
	}
}
