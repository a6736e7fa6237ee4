package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/lint"
	"github.com/urnd/urnd/uri"
)

func newCheck(w Wiring) *cobra.Command {
	var hints bool
	var own []string
	cmd := &cobra.Command{
		Use:   "check [PREFIX]",
		Short: "Report errors and warnings in the registry",
		Long: `Check all names and prefixes, or those that begin with PREFIX, and print a line for each error or
warning: name, severity, description, and rule. Nothing is changed.

The rules are, for the name: name, canonical, equivalent, not-owned, and level for identifiers in
web addresses, as a lot without its item; for its targets: target, target-scheme, target-normal,
target-user, target-expired, no-target, and as hints target-http and target-shared; for resolution:
chain and loop (through this urnd), alias, successor; for prefixes: redundant, hides-rules; and
record for everything else.

URLs belong to this urnd if their host is in listen.names, is the host name of the machine, or
localhost.

An error means that clients get no response or a wrong one. The exit status is 1 if there is one.`,
		Example: `  urnd registry check
  urnd registry check urn:nbn:fi: --hints
  urnd registry check --own urn.example.org --output csv`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&hints, "hints", false, "also print hints, which may be intended; reads all names twice")
	output := cli.AddOutput(cmd, "one object for each finding", cli.CSV, cli.JSON)
	cmd.Flags().StringArrayVar(&own, "own", nil, "URLs of this `host` also lead to this urnd; repeatable")
	return f.run(existing, "checking names", "nothing was checked",
		func(ctx context.Context, s *session, args []string) error {
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
				OwnHost: isOwn(append(w.OwnNames(s.config.Listen), own...)), Hosts: s.config.Registry.HostPrefixes(),
				OwnedPrefixes: s.names.RegistryPrefixes(),
				Progress:      func(read int64, found lint.Summary) { s.progress.Show(checkStep(read, total, found)) },
			}, below, func(finding lint.Finding) error { return printFinding(table, output.Format, finding) })
			if err := errors.Join(err, out.Flush()); err != nil {
				return s.progress.Interrupted(err,
					"%s; nothing was changed; the same command starts over, and with PREFIX it checks a part",
					checkedText(summary))
			}
			return s.concludeCheck(summary)
		})
}

// isOwn returns a function that reports whether URLs of a host are served by this urnd.
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

// printFinding prints a finding, as text in one sentence.
func printFinding(table *cli.Table, format cli.Format, f lint.Finding) error {
	cells := []string{f.String()}
	if format == cli.CSV {
		cells = []string{f.Key.String(), f.Severity.String(), f.Message, f.Rule}
	}
	return table.Row(struct {
		Name     string        `json:"name"`
		Prefix   bool          `json:"prefix,omitempty"`
		Severity lint.Severity `json:"severity"`
		What     string        `json:"what"`
		Rule     string        `json:"rule"`
	}{f.Key.Name, f.Key.Kind == registry.KindPrefix, f.Severity, f.Message, f.Rule}, cells...)
}

// checkedText summarizes what was checked and found.
func checkedText(s lint.Summary) string {
	return fmt.Sprintf("checked %d names and prefixes: errors %d, warnings %d, hints %d",
		s.Read, s.Found[lint.Error], s.Found[lint.Warning], s.Found[lint.Hint])
}

// checkStep returns the progress of a check.
func checkStep(read, total int64, found lint.Summary) cli.Step {
	if read > total { // the total is unknown, or this is the second pass
		total = 0
	}
	return cli.Step{
		Activity: "checking names", Done: read, Total: total,
		More: fmt.Sprintf("errors %d, warnings %d", found.Found[lint.Error], found.Found[lint.Warning]),
	}
}

// concludeCheck prints the summary. It returns an error if there were errors.
func (s *session) concludeCheck(summary lint.Summary) error {
	s.say("%s", checkedText(summary))
	if summary.SharedLeftOut {
		s.say("too many targets are shared to print all: check parts, with PREFIX")
	}
	if summary.Found[lint.Error] > 0 {
		return cli.ErrReported
	}
	return nil
}

// healthFlags are the flags of urnd registry health.
type healthFlags struct {
	all, check bool
	contact    string
	wiring     Wiring
	output     *cli.Output
}

func newHealth(w Wiring) *cobra.Command {
	h := healthFlags{wiring: w}
	cmd := &cobra.Command{
		Use:   "health [PREFIX]",
		Short: "Show or check the health of targets",
		Long: `Show the targets of all names, or of those that begin with PREFIX, that did not respond when they
were checked: a line for each in the order of names, with name, state, since when, last check,
error, and target, separated by tabs. A target is

  suspect       after a failure
  unhealthy     after 3 failures in a row, over a day at least
  inaccessible  if urnd may not connect to its address (access.allow_destinations)

and healthy again after one success. A running urnd checks targets if registry.health_interval is
set. With --check the targets are checked now, at the same low rate, and the results are stored;
those that do not respond are printed. Nothing else in the registry changes.

The exit status is 1 if a target is unhealthy, or with --check if one does not respond.`,
		Example: `  urnd registry health
  urnd registry health urn:nbn:fi:example --all
  urnd registry health urn:nbn:fi:example --check --contact mailto:urn-service@library.example`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&h.all, "all", false, "also show healthy targets, with the time of their last check")
	cmd.Flags().BoolVar(&h.check, "check", false, "check the targets now")
	cmd.Flags().StringVar(&h.contact, "contact", "",
		"`URL` or mail address in the User-Agent of the checks (registry.health_contact)")
	h.output = cli.AddOutput(cmd, "one object for each target", cli.CSV, cli.JSON)
	return f.run(existing, "reading the health of targets", "nothing was checked",
		func(ctx context.Context, s *session, args []string) error {
			table, err := h.output.Rows(s.out, "name", "state", "since", "checked", "error", "target")
			if err != nil {
				return err
			}
			report := healthReport{table: table}
			if h.check {
				return h.checkNow(ctx, s, &report, strings.Join(args, ""))
			}
			return h.show(ctx, s, &report, strings.Join(args, ""))
		})
}

// show prints the stored state of targets.
func (h *healthFlags) show(ctx context.Context, s *session, report *healthReport, prefix string) error {
	if err := s.Targets(ctx, s.actor, prefix, h.all, report.print); err != nil {
		return s.progress.InterruptedRestart(err, "not all targets are printed, and nothing was changed")
	}
	sweep, err := s.Sweep(ctx)
	if err != nil {
		return err
	}
	s.say("%d unhealthy; %s", report.unhealthy, sweepText(sweep))
	if report.unhealthy > 0 {
		return cli.ErrReported
	}
	return nil
}

// sweepText describes the progress of the sweep.
func sweepText(s health.Sweep) string {
	switch {
	case s.Started.IsZero():
		return "no running urnd has checked targets yet"
	case !s.Ended.IsZero():
		return fmt.Sprintf("all %d names were checked between %s and %s", s.Names, minuteText(s.Started),
			minuteText(s.Ended))
	default:
		return fmt.Sprintf("%d of %d names were checked between %s and %s", s.Names, s.Total, minuteText(s.Started),
			minuteText(s.Moved))
	}
}

// checkNow checks the targets of names that begin with prefix.
func (h *healthFlags) checkNow(ctx context.Context, s *session, report *healthReport, prefix string) error {
	c := s.config
	if h.contact != "" {
		c.Registry.HealthContact = h.contact
	}
	if c.Registry.HealthContact == "" {
		return cli.Usage(errors.New("operators of the checked servers must be able to reach you: set " +
			"registry.health_contact, or use --contact"))
	}
	if err := c.Validate(); err != nil { // validates the contact
		return cli.Usage(err)
	}
	settings, end, err := h.wiring.Health(c, s.store)
	if err != nil {
		return err
	}
	defer end()
	p := s.progress
	checked, last := 0, ""
	err = s.CheckTargets(ctx, s.actor, settings, prefix, func(t health.Target) error {
		checked, last = checked+1, t.Name
		p.Show(cli.Step{
			Activity: "checking targets", Done: int64(checked),
			More: fmt.Sprintf("up to %s, %d do not respond", t.Name, report.failing),
		})
		if !h.all && (t.Outcome == health.Alive || t.Outcome == health.Guarded) {
			return nil
		}
		return report.print(t)
	})
	s.say("checked %d targets: %d do not respond", checked, report.failing)
	if err == nil && report.failing > 0 {
		return cli.ErrReported
	}
	if last == "" {
		return err
	}
	return p.Interrupted(err,
		"results for targets up to those of %s are saved; the same command starts over, and with PREFIX it "+
			"checks a part", last)
}

// healthReport prints targets, and counts unhealthy and failing ones.
type healthReport struct {
	table              *cli.Table
	unhealthy, failing int
}

func (p *healthReport) print(t health.Target) error {
	if t.State == health.Unhealthy {
		p.unhealthy++
	}
	if t.Outcome == health.Gone || t.Outcome == health.Failing {
		p.failing++
	}
	state, failure := string(t.State), t.Error
	if state == "" {
		state = "unchecked"
	}
	if failure == "" {
		failure = "-"
	}
	return p.table.Row(struct {
		Name string `json:"name"`
		health.Target
	}{t.Name, t}, t.Name, state, minuteText(t.Since), minuteText(t.Checked), failure, t.URI)
}

// minuteText formats a time in UTC with minutes, "-" for the zero value.
func minuteText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
