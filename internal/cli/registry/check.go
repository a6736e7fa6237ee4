package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lint"
	"github.com/urnd/urnd/uri"
)

func newCheck(w Wiring) *cobra.Command {
	var hints bool
	var own []string
	cmd := &cobra.Command{
		Use:   "check [PREFIX]",
		Short: "Find what is wrong or doubtful in the registry",
		Long: `Check all names and prefixes, or those that begin with PREFIX, and print a line for each thing that is
wrong or doubtful: name, severity, what it is, and the rule. Nothing is changed.

The rules are, for the name: name, canonical, equivalent, not-asked, and level for identifiers in web
addresses, as a lot without its item; for its targets: target, target-scheme,
target-normal, target-user, target-expired, no-target, and as hints target-http and target-shared; for
where it leads: chain and loop (through this urnd), alias, successor; for prefixes: redundant, hides-rules;
and record for all else.

URLs lead to this urnd if their host is in listen.names, is the name of the machine, or localhost.

An error is what gives clients no answer or a wrong one. The exit status is 1 if there is one.`,
		Example: `  urnd registry check
  urnd registry check urn:nbn:fi: --hints
  urnd registry check --own urn.example.org --output csv`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&hints, "hints", false, "also print hints: what may be meant so; reads all names twice")
	output := cli.AddOutput(cmd, "one object for each finding", cli.CSV, cli.JSON)
	cmd.Flags().StringArrayVar(&own, "own", nil, "URLs of this `host` lead to this urnd too; may be repeated")
	return f.run(existing, "checking names", "nothing was checked", func(ctx context.Context, s *session, args []string) error {
		below := strings.Join(args, "")
		total, err := s.size(ctx, below)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(s.out)
		table, err := output.Rows(out, "name", "severity", "what", "rule")
		if err != nil {
			return err
		}
		summary, err := s.Check(ctx, s.actor, lint.Config{
			Names: s.names, Hints: hints,
			Own: isOwn(append(w.OwnNames(s.config.Listen), own...)), Hosts: s.config.Registry.HostNames(), Only: s.names.AskedFor(),
			Progress: func(read int64, found lint.Summary) { s.progress.Show(checkStep(read, total, found)) },
		}, below, func(finding lint.Finding) error { return printFinding(table, output.Format, finding) })
		if err := errors.Join(err, out.Flush()); err != nil {
			return s.progress.Interrupted(err, "%s; nothing was changed; the same command begins anew, and with PREFIX it checks a part", checkedText(summary))
		}
		return s.concludeCheck(summary)
	})
}

// isOwn returns what reports whether URLs of a host lead to this urnd.
func isOwn(names []string) func(host string) bool {
	own := map[string]bool{"localhost": true}
	for _, name := range names {
		own[uri.CanonicalHost(name)] = true
	}
	return func(host string) bool {
		addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
		return own[host] || err == nil && addr.IsLoopback()
	}
}

// printFinding prints a finding: as text in a sentence.
func printFinding(table *cli.Table, format cli.Format, f lint.Finding) error {
	cells := []string{f.String()}
	if format == cli.CSV {
		cells = []string{f.Key.String(), f.Severity.String(), f.What, f.Rule}
	}
	return table.Row(struct {
		Name     string        `json:"name"`
		Prefix   bool          `json:"prefix,omitempty"`
		Severity lint.Severity `json:"severity"`
		What     string        `json:"what"`
		Rule     string        `json:"rule"`
	}{f.Key.Name, f.Key.Kind == registry.KindPrefix, f.Severity, f.What, f.Rule}, cells...)
}

// checkedText says how much was checked and found.
func checkedText(s lint.Summary) string {
	return fmt.Sprintf("checked %d names and prefixes: errors %d, warnings %d, hints %d",
		s.Read, s.Found[lint.Error], s.Found[lint.Warning], s.Found[lint.Hint])
}

// checkStep says how far a check is.
func checkStep(read, total int64, found lint.Summary) cli.Step {
	if read > total { // it is not known, or some are read once more
		total = 0
	}
	return cli.Step{
		What: "checking names", Done: read, Total: total,
		More: fmt.Sprintf("errors %d, warnings %d", found.Found[lint.Error], found.Found[lint.Warning]),
	}
}

// concludeCheck says how much was checked.
func (s *session) concludeCheck(summary lint.Summary) error {
	s.say("%s", checkedText(summary))
	if summary.SharedLeftOut {
		s.say("so many targets are shared that not all are printed: check parts, by PREFIX")
	}
	if summary.Found[lint.Error] > 0 {
		return cli.ErrReported
	}
	return nil
}
