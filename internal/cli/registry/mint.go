package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/resolver/registry/mint"
)

func newMint(w Wiring) *cobra.Command {
	var m mint.Request
	var from uint64
	cmd := &cobra.Command{
		Use:   "mint PATTERN",
		Short: "Reserve the next free names of a pattern",
		Long: `Reserve the next free names of a pattern, and print them. They stay reserved until they get
targets. No name is printed twice, even if several processes mint in the same registry. With
--dry-run no name is reserved: others may get the printed names, and the next random ones differ.

A pattern is a URI with one of

  {counter}    the next number, from 1 on
  {counter:6}  the same, with leading zeros to at least six digits
  {random:8}   eight random characters: digits, and letters without vowels and l

and, at its end, none or one of

  {check}      the check character of NOID, over the NSS of a URN, the NAAN and name of an ARK,
               or the path of another URI
  {nbn}        the check digit of URN:NBN:de, over the whole name

ISBNs and ISSNs are minted from the digits of a range and {counter}, with their check digits. A
template of NOID is written after noid:, such as noid:ark:/12345/fk.reedeedk.`,
		Example: `  urnd registry mint 'urn:nbn:fi:lib-{counter}'
  urnd registry mint -n 100 --note 'theses of 2031' 'urn:nbn:fi:lib-{random:8}{check}'
  urnd registry mint 'urn:nbn:de:bvb:12-bsb{counter:8}-{nbn}'
  urnd registry mint --from 500 'urn:isbn:978951{counter}'
  urnd registry mint 'urn:issn:2342{counter}'`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	cmd.Flags().IntVarP(&m.Count, "number", "n", 1, fmt.Sprintf("mint this `number` of names, at most %d", mint.Max))
	cmd.Flags().Uint64Var(&from, "from", 0,
		"continue with this `number`, instead of the one after the last; registered names are "+
			"skipped")
	cmd.Flags().StringVar(&m.Note, "note", "", "reason for the history: a `text`")
	return f.run(madeUnlessDry(&differences.dry), "minting names", "no name was reserved",
		func(ctx context.Context, s *session, args []string) error {
			if m.Pattern = args[0]; cmd.Flags().Changed("from") {
				m.From = &from
			}
			if differences.dry {
				changes, err := s.PreviewMint(ctx, s.actor, m)
				return differences.print(s, changes,
					s.progress.InterruptedRestart(err, "no name was reserved, because of --dry-run"))
			}
			names, err := s.Mint(ctx, s.actor, m)
			if err != nil {
				return err
			}
			rows, err := differences.output.Rows(s.out, "name")
			for _, name := range names {
				err = errors.Join(err, rows.Row(map[string]string{"name": name}, name))
			}
			return err
		})
}
