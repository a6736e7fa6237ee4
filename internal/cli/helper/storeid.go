package helper

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/squid"
	"github.com/urnd/urnd/resolver"
)

func newStoreID(names cli.NamesOf) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store-id",
		Short: "Print the keys of URIs, as the store_id_program of Squid",
		Long: `Print the keys of URIs, as the store_id_program of Squid: equivalent URIs then share
one entry of its cache. The key of a URL is its normal form, that of a URN its canonical
name by the rules of its namespace. The answer is ERR where that is the URI itself, where
a URI is invalid (Squid sends on what clients send raw, such as "[", and keeps it apart), ` +
			`and for a URN with components ("?+" or "?="), which change what it
leads to but not its name.`,
		Example: `  printf 'URN:ISBN:0-395-36341-1\n' | urnd helper store-id

  # in squid.conf
  store_id_program /usr/bin/urnd helper store-id
  store_id_children 1 startup=1 concurrency=64`,
		Args: cobra.NoArgs,
	}
	s := cli.AddFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		rules, err := s.Names(names)
		if err != nil {
			return err
		}
		return answerer(storeIDs{rules}.answer).serve(cmd)
	}
	return cmd
}

// storeIDs makes the answers of a store_id_program.
type storeIDs struct{ names resolver.Names }

func (s storeIDs) answer(_ context.Context, url string) squid.Answer {
	q, err := resolver.ParseQuery(url, resolver.I2L)
	if err != nil {
		return failed(err)
	}
	switch _, components := q.URI.Query(); {
	case q.IsURN() && components:
		return squid.Refused("the components of a URN are not part of its key")
	case !q.IsURN() && !hasAuthority(q.URI):
		return squid.Unchanged()
	}
	canonical, err := s.names.Canonical(q)
	if err != nil {
		return failed(err)
	}
	return whereChanged(squid.StoreID, canonical.URI.String(), url)
}
